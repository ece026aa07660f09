#include "hewn/convex/fit/starts.h"

#include <algorithm>
#include <limits>

#include "hewn/convex/solver/greedy_common.h"

namespace hewn::convex {

PursuitStarts::PursuitStarts(const Problem& problem, Index most) {
  Problem own = problem;
  if (own.loss->may_diverge()) own.ridge = std::max(own.ridge, 1e-3);
  const Groups& groups = own.groups;
  Subsets subsets(own);
  constexpr double kRough = 1e-10;  // a start need not be exact
  SubsetFit fit = subsets.fit(subsets.always(), nullptr, kRough);
  const Index count = std::min(most, groups.count() - to_index(subsets.always().size()));
  for (Index i = 0; i < count; ++i) {
    const Choice choice = choose_entering(subsets, fit, Score::kCurvature);
    if (choice.group < 0 || !(choice.tau > 0)) break;
    std::vector<Index> larger = fit.groups;
    larger.push_back(choice.group);
    fit = subsets.fit(larger, &fit, kRough);
    Start start{Vector::Zero(groups.total()), Vector::Zero(groups.count()), fit.objective};
    Index at = 0;
    for (const Index g : fit.groups) {
      start.values.segment(groups.start(g), groups.size(g)) = fit.values.segment(at, groups.size(g));
      start.norms[g] = fit.values.segment(at, groups.size(g)).norm();
      at += groups.size(g);
    }
    starts_.push_back(std::move(start));
  }
}

Vector PursuitStarts::best(const Penalty& penalty, double lambda, const Vector& weights) const {
  Vector out;
  double least = std::numeric_limits<double>::infinity();
  for (const Start& start : starts_) {
    const double objective = start.smooth + lambda * penalty.value(start.norms, weights);
    if (!(objective < least)) continue;
    least = objective;
    out = start.values;
  }
  return out;
}

}  // namespace hewn::convex
