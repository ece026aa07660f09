// The algorithm, top down; the other files of this folder have its parts.
#include "hewn/convex/fit/fitter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hewn/convex/fit/gradient.h"
#include "hewn/convex/fit/point.h"
#include "hewn/convex/fit/report.h"
#include "hewn/convex/fit/steps.h"
#include "hewn/convex/fit/working_set.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

const Vector& norms_anew(State& state) {
  full_gradient(state);
  return state.gradient.norm;
}

void fit_unpenalised(State& state) {
  const Groups& groups = state.fixed.problem.groups;
  std::vector<Index> unpenalised;
  for (Index g = 0; g < groups.count(); ++g) {
    if (groups.weight(g) == 0) unpenalised.push_back(g);
  }
  if (unpenalised.empty()) return;
  const double size = norms_anew(state).maxCoeff();
  enter(state, unpenalised);
  fit_working(state, 0, std::max(state.fixed.noise, 1e-10 * size), state.fixed.options.max_sweeps);
  if (state.fixed.problem.intercept) fit_intercept(state);
  full_gradient(state);
}

Null null_of(State& state) {
  const Groups& groups = state.fixed.problem.groups;
  const Vector& norms = norms_anew(state);
  Null out;
  for (Index g = 0; g < groups.count(); ++g) {
    if (groups.weight(g) == 0 || norms[g] <= out.tau * groups.weight(g)) continue;
    out.tau = norms[g] / groups.weight(g);
    out.first_group = g;
  }
  if (out.tau <= state.fixed.noise) out.tau = 0;
  out.objective = smooth_objective(state);
  return out;
}

double worst_inside(State& state, double lambda) {
  double worst = 0;
  for (const Index g : state.working.groups) worst = std::max(worst, violation_of(state, g, lambda));
  return worst;
}

/// Fits the working set and adds what violates, until nothing does; the number of sweeps.
int fit_at(State& state, double lambda, double tolerance) {
  const Fixed& fixed = state.fixed;
  const int most = fixed.options.max_sweeps;
  std::vector<Index> all(to_size(fixed.problem.groups.count()));
  std::iota(all.begin(), all.end(), Index{0});
  const bool screened = fixed.options.screen && fixed.penalty.is_group_lasso();
  const std::vector<Index> strong = screened ? strong_set(state, lambda) : all;
  add_violators(state, strong, lambda, tolerance);
  int sweeps = 0;
  // Sweeps that use residuals stop by what they met on the way, which may not be enough.
  double share = state.quadratic.gram_mode() || !fixed.fixed_curvature ? 0.95 : 0.5;
  while (true) {
    sweeps += fit_working(state, lambda, share * tolerance, most - sweeps);
    if (fixed.problem.intercept && fixed.problem.loss->may_diverge()) fit_intercept(state);
    if (screened && strong.size() < all.size() / 2) {
      gradient_of_zero_groups(state, strong);
      if (sweeps < most && add_violators(state, strong, lambda, tolerance)) continue;
    }
    gradient_where_needed(state, lambda);
    if (sweeps >= most) break;
    if (add_violators(state, all, lambda, tolerance)) continue;
    if (worst_inside(state, lambda) <= tolerance) break;
    share = std::max(1e-3, share / 2);
    ++sweeps;  // rounding alone must not keep this going
  }
  return sweeps;
}

}  // namespace

Fitter::Fitter(const Problem& problem, const Penalty& penalty, const Options& options)
    : state_(problem, penalty, options) {
  update_residual(state_);
  if (problem.intercept) fit_intercept(state_);
  full_gradient(state_);
  fit_unpenalised(state_);
  state_.null = null_of(state_);
  state_.null.own_tau = least_empty_lambda(state_);
  state_.gradient.lambda = state_.null.tau;
}

Solution Fitter::fit(double lambda) {
  if (!(lambda >= 0) || std::isinf(lambda))
    throw Error(str("lambda: expected a number of at least 0, got ", lambda));
  const double scale = lambda > 0 ? in_gradient_units(state_, lambda) : 1e-6 * state_.null.tau;
  const double tolerance = std::max(state_.fixed.noise, state_.fixed.options.tolerance * scale);
  const int sweeps = fit_at(state_, lambda, tolerance);
  state_.gradient.lambda = lambda;
  return report(state_, lambda, sweeps, tolerance);
}

void Fitter::start_from(const Vector& beta) {
  const Vector old = state_.point.beta;
  state_.point.beta = beta;
  state_.held.reset();
  std::vector<Index> fresh;
  for (Index g = 0; g < problem().groups.count(); ++g) {
    if (!state_.working.has[to_size(g)] && values_of(state_, g).squaredNorm() != 0) fresh.push_back(g);
  }
  enter(state_, fresh);
  move_predictor(state_, state_.fixed.x, old, Eigen::RowVectorXd::Zero(state_.point.eta.cols()), 1);
  update_residual(state_);
  if (problem().intercept) fit_intercept(state_);
  full_gradient(state_);
}

Vector Fitter::gradient_norms() { return norms_anew(state_); }

double Fitter::lower_bound(double lambda) const { return convex::lower_bound(state_, lambda); }

}  // namespace hewn::convex
