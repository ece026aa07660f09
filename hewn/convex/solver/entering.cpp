// Which group a penalty lets in where its lambda is just below the one that keeps all of them out.
#include <algorithm>

#include "hewn/convex/fit/composed.h"
#include "hewn/convex/solver/greedy_common.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

/// The penalised group with the largest norm; -1 where there is none. Penalties that leave nothing at zero
/// have all of them.
Index largest_of(const Problem& problem, const Solution& solution) {
  Index out = -1;
  double largest = 0;
  Index at = 0;
  for (const Index g : solution.support) {
    const Index size = problem.groups.size(g);
    const double norm = Eigen::Map<const Vector>(solution.values.data() + at, size).norm();
    if (problem.groups.weight(g) > 0 && norm > largest) {
      out = g;
      largest = norm;
    }
    at += size;
  }
  return out;
}

}  // namespace

Choice choose(Subsets& subsets, const SubsetFit& fit, const GreedyOptions& options) {
  Choice out = choose_entering(subsets, fit, options.score);
  out.largest = out.group;
  if (!options.q || out.group < 0 || !(out.tau > 0)) return out;
  Problem free = subsets.problem();
  for (const Index g : fit.groups) free.groups.set_weight(g, 0);
  Options solver;
  solver.tolerance = 0.01 * options.epsilon;
  Follower follower(free, *options.q, solver);
  const Solution solution = follower.fit((1 - options.epsilon) * follower.tau());
  const Index entered = largest_of(free, solution);
  if (!solution.converged || entered < 0) {
    throw Error(str("q: no group enters at ", 1 - options.epsilon,
                    " of the lambda that keeps all out; choose ", "another epsilon than ", options.epsilon));
  }
  out.group = entered;
  return out;
}

}  // namespace hewn::convex
