// How a fit moves on its working set: one majorised quadratic for ever, or a new one at each step.
#include "hewn/convex/fit/steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hewn/convex/fit/held.h"
#include "hewn/convex/fit/line_search.h"
#include "hewn/convex/fit/point.h"
#include "hewn/convex/solver/anderson.h"
#include "hewn/convex/solver/descent.h"

namespace hewn::convex {
namespace {

constexpr int kInnerSweeps = 10;     // on one quadratic of fixed curvature
constexpr double kInnerShare = 0.5;  // of its violation at the start that may be left of it
constexpr int kStepsToHalve = 10;    // in which violations should become half of what they were

DescentResult descend_on(State& state, const Quadratic& quadratic, double lambda,
                         const DescentOptions& options) {
  return descend({quadratic, state.fixed.penalty, lambda, state.working.groups, &state.factor}, state.point.v,
                 state.point.beta, options);
}

/// Minus the gradient in the intercept; zeros where there is none.
Eigen::RowVectorXd intercept_pull(const State& state) {
  if (state.fixed.problem.intercept) return state.point.v.colwise().sum();
  return Eigen::RowVectorXd::Zero(state.point.eta.cols());
}

/// The quadratic is the loss itself.
int minimise_quadratic(State& state, double lambda, double tolerance, int max_sweeps) {
  const Vector old = state.point.beta;
  const DescentResult result =
      descend_on(state, state.quadratic, lambda, {tolerance, max_sweeps, state.fixed.options.anderson});
  if (result.sweeps > 0) {
    move_predictor(state, state.fixed.x, old, Eigen::RowVectorXd::Zero(state.point.eta.cols()), 1);
    update_residual(state);
  }
  return result.sweeps;
}

/// What a loss of one output bends by here, as one number for all samples.
double likely_curvature(const State& state) {
  const Fixed& fixed = state.fixed;
  const double bound = fixed.problem.loss->curvature();
  if (state.point.eta.cols() > 1) return bound;
  const double mean =
      fixed.weights.dot(fixed.problem.loss->second_derivative(state.point.eta, fixed.problem.y));
  return std::clamp(mean, 1e-3 * bound, bound);
}

/// Minimises quadratics that have the same curvature everywhere, so that inner products and eigenbases serve
/// the whole path; extrapolates over these steps, and takes back what does not lower the objective. The
/// curvature is guessed; where a step shows that it is too little, it rises up to the loss's bound, under
/// which every step lowers the objective.
int majorise(State& state, double lambda, double tolerance, int max_sweeps) {
  const int memory = state.fixed.options.anderson;
  const double bound = state.fixed.problem.loss->curvature();
  Anderson anderson(memory);
  int sweeps = 0;
  double slow = std::numeric_limits<double>::infinity();
  state.quadratic.set_factor(likely_curvature(state));
  double current = objective(state, lambda);
  for (int steps = 1; sweeps < max_sweeps; ++steps) {
    const Point old = state.point;
    const DescentResult result =
        descend_on(state, state.quadratic, lambda,
                   {0.3 * tolerance, std::min(kInnerSweeps, max_sweeps - sweeps), memory, kInnerShare});
    const Eigen::RowVectorXd pull = intercept_pull(state);
    const double violation = std::max(result.before, pull.norm());
    if (violation <= tolerance) {
      state.point.beta = old.beta;
      break;
    }
    sweeps += std::max(1, result.sweeps);
    move_predictor(state, state.fixed.x, old.beta, pull / state.quadratic.factor(), 1);
    update_residual(state);
    const double after = objective(state, lambda);
    const bool stuck = steps % kStepsToHalve == 0 && violation > 0.5 * slow;
    const bool rises = after > current + 1e-14 * (1 + std::abs(current));
    if (steps % kStepsToHalve == 0) slow = violation;
    if (state.quadratic.factor() < bound && (stuck || rises)) {
      if (rises) state.point = old;
      state.quadratic.set_factor(std::min(bound, 2 * state.quadratic.factor()));
      anderson.clear();
      if (rises) continue;
    }
    current = after;
    const auto further = anderson.push(gathered(state), state.point.eta);
    if (further && try_point(state, *further, lambda)) current = objective(state, lambda);
  }
  return sweeps;
}

}  // namespace

int fit_working(State& state, double lambda, double tolerance, int max_sweeps) {
  if (!state.fixed.fixed_curvature) return held_newton(state, lambda, tolerance, max_sweeps);
  const bool exact = state.fixed.problem.loss->curvature() == 1;
  return exact ? minimise_quadratic(state, lambda, tolerance, max_sweeps)
               : majorise(state, lambda, tolerance, max_sweeps);
}

}  // namespace hewn::convex
