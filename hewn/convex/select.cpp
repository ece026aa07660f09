#include "hewn/convex/select.h"

#include <algorithm>
#include <cmath>

#include "hewn/convex/measure.h"
#include "hewn/convex/selection/holdout.h"
#include "hewn/convex/selection/named_groups.h"
#include "hewn/convex/selection/theory_of.h"
#include "hewn/convex/selection/ways.h"
#include "hewn/convex/solver/greedy_common.h"
#include "hewn/convex/solver/prepare.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

/// Throws Error where no feature can explain anything, or where numbers overflow.
void check_features(const Problem& problem) {
  Vector first;
  Vector spread;
  problem.x->moments(normalised_weights(problem), first, spread);
  if (!first.allFinite() || !spread.allFinite() || !std::isfinite(problem.y.squaredNorm())) {
    throw Error(
        "the features or responses are so large that their squares overflow; give them in other units");
  }
  const Vector size = spread + first.cwiseAbs2();
  const bool any =
      problem.intercept ? (spread.array() > 1e-26 * size.array()).any() : (size.array() > 0).any();
  if (!any) {
    throw Error(problem.intercept ? "every feature is constant, so that none of them explains anything"
                                  : "every feature is zero, so that none of them explains anything");
  }
}

/// Folds that the data name are those of cross-validation.
SelectOptions with_folds(const Dataset& data, SelectOptions options) {
  if (data.folds.empty()) return options;
  if (options.cv > 0) throw Error("folds and cv: give one of them");
  options.folds = data.folds;
  options.cv = *std::max_element(data.folds.begin(), data.folds.end()) + 1;
  return options;
}

/// The share of the null model's deviance that a solution explains.
double explained_by(const Problem& problem, const Solution& solution) {
  const Vector weights = normalised_weights(problem);
  const auto deviance = [&](const Solution& s) {
    const Matrix eta = linear_predictor(problem, s.coefficients(problem.groups), s.intercept);
    return measure(Measure::kDeviance, *problem.loss, eta, problem.y, weights);
  };
  Problem null = problem;  // intercept alone
  for (Index g = 0; g < null.groups.count(); ++g) null.groups.set_weight(g, 1);
  const double all = deviance(select_none(null).solution);
  return all > 0 ? 1 - deviance(solution) / all : 0;
}

}  // namespace

Selection select(const Dataset& data, const SelectOptions& given,
                 const std::function<void(int, int)>& progress) {
  const ChosenMethod chosen = find_method(given.method);
  const SelectOptions options = with_folds(data, given);
  check_options(chosen, options);
  Selection out;
  out.problem = data.problem;
  NamedGroups groups = named_groups(data, options);
  out.problem.groups = std::move(groups.groups);
  out.group_names = std::move(groups.names);
  out.problem.intercept = options.intercept;
  out.problem.standardise = options.standardise;
  const bool subset = chosen.method->is_subset();
  out.problem.ridge = options.ridge.value_or(subset && out.problem.loss->may_diverge() ? 1e-3 : 0);
  check_features(out.problem);
  Options solver;
  solver.tolerance = options.tolerance;
  solver.mix = options.mix;
  out.mix = options.mix;
  out.singles = options.singles;
  if (options.sweeps > 0) solver.max_sweeps = static_cast<int>(options.sweeps);

  Vector outside;
  if (options.holdout > 0)
    outside = leave_out(out.problem, options.holdout, static_cast<uint64_t>(options.seed));
  if (subset) {
    pursue_subset(out, chosen, options, solver, progress);
  } else {
    follow_path(out, chosen, options, solver, progress);
  }
  if (options.train_mask) out.trained = train_masks(out, chosen, static_cast<uint64_t>(options.seed));
  // Hazards are relative: only differences between samples mean anything.
  if (out.problem.loss == &find_loss("cox")) out.solution.intercept.setZero();
  out.explained = explained_by(out.problem, out.solution);
  if (options.holdout > 0) {
    out.holdout = score_of(out.problem, outside, out.selected);
    std::vector<Index> all;
    for (Index g = 0; g < out.problem.groups.count(); ++g) {
      if (out.problem.groups.weight(g) > 0) all.push_back(g);
    }
    out.holdout_all = score_of(out.problem, outside, all);
  }
  return out;
}

}  // namespace hewn::convex
