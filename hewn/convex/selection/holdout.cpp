#include "hewn/convex/selection/holdout.h"

#include <algorithm>
#include <cmath>

#include "hewn/convex/measure.h"
#include "hewn/convex/solver/subset.h"
#include "hewn/core/error.h"
#include "hewn/core/random.h"

namespace hewn::convex {
namespace {

/// The linear predictor of some groups, refitted.
Matrix refitted_eta(const Problem& problem, const std::vector<Index>& groups) {
  Problem refitted = problem;
  if (problem.loss->may_diverge()) refitted.ridge = std::max(problem.ridge, 1e-3);
  Subsets subsets(refitted);
  std::vector<Index> all = subsets.always();
  all.insert(all.end(), groups.begin(), groups.end());
  // Enough for an accuracy, and with all features a good part of the time.
  constexpr double kTolerance = 1e-9;
  const Solution solution = subsets.solution(subsets.fit(all, nullptr, kTolerance));
  return linear_predictor(problem, solution.coefficients(problem.groups), solution.intercept);
}

}  // namespace

Vector leave_out(Problem& problem, double share, uint64_t seed) {
  const Index n = problem.x->rows();
  const auto count = static_cast<Index>(std::llround(share * static_cast<double>(n)));
  if (count < 1 || count >= n)
    throw Error(str("holdout: ", count, " of ", n, " samples is too few or all of them"));
  if (problem.sample_weight.size() == 0) problem.sample_weight = Vector::Ones(n);
  Vector outside = Vector::Zero(n);
  const std::vector<int64_t> order = permutation(seed, 1, n);
  for (Index i = 0; i < count; ++i)
    std::swap(outside[order[to_size(i)]], problem.sample_weight[order[to_size(i)]]);
  return outside;
}

HoldoutScore score_of(const Problem& problem, const Vector& outside, const std::vector<Index>& groups) {
  Matrix eta = refitted_eta(problem, groups);
  HoldoutScore out;
  const Vector w = outside / outside.sum();
  out.loss = measure(Measure::kLoss, *problem.loss, eta, problem.y, w);
  if (has_classes(*problem.loss)) {
    out.accuracy = measure(Measure::kAccuracy, *problem.loss, eta, problem.y, w);
    return out;
  }
  if (problem.loss == &find_loss("cox")) {
    out.accuracy = concordance(eta, problem.y, w);
    return out;
  }
  problem.loss->predict(eta);
  out.accuracy = variance_explained(eta, problem.y, w);
  return out;
}

}  // namespace hewn::convex
