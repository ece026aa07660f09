#pragma once

#include "hewn/convex/greedy.h"
#include "hewn/convex/solver/subset.h"

namespace hewn::convex {

/// The group outside a fit with the largest score; -1 where there is none.
struct Choice {
  Index group = -1;
  double tau = 0;
  bool tie = false;
  Index largest = -1;  // the group with the largest score, where a penalty chooses
};
Choice choose_entering(Subsets& subsets, const SubsetFit& fit, Score score);
/// The same, or by the penalty that the options name.
Choice choose(Subsets& subsets, const SubsetFit& fit, const GreedyOptions& options);

/// The fit of intercept and unpenalised groups alone.
Greedy select_none(const Problem& problem);
/// k, at most the number of penalised groups. Throws Error below 1.
Index checked_count(const Problem& problem, Index k);
/// k rounds of orthogonal matching pursuit; `fit` becomes the last fit.
Greedy pursue(Subsets& subsets, const GreedyOptions& options, Index k, SubsetFit& fit);
/// Fills in solution and certificate.
void finish(Greedy& out, Subsets& subsets, const SubsetFit& fit);

}  // namespace hewn::convex
