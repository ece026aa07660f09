#include "hewn/convex/fit/held.h"

#include <algorithm>
#include <cmath>

#include "hewn/convex/fit/line_search.h"
#include "hewn/convex/fit/point.h"
#include "hewn/convex/fit/working_set.h"
#include "hewn/convex/solver/descent.h"

namespace hewn::convex {
namespace {

constexpr double kLeft = 0.1;            // of the violation, that sweeps on one quadratic may leave
constexpr double kSlowestGood = 0.3;     // share that a step with the right curvature leaves, at most
constexpr double kPassesPerSquare = 10;  // features whose inner products cost what one pass over them does

/// The loss's own curvature at the point, weighted; positive wherever a weight is.
Vector curvature_of(const State& state) {
  const Fixed& fixed = state.fixed;
  Vector out =
      fixed.weights.cwiseProduct(fixed.problem.loss->second_derivative(state.point.eta, fixed.problem.y));
  out = out.cwiseMax(1e-9 * out.maxCoeff() * (fixed.weights.array() > 0).cast<double>().matrix());
  return out;
}

void hold(State& state) { state.held = std::make_unique<Held>(state.fixed, curvature_of(state)); }

/// What it costs to hold another curvature, in steps: a step passes twice over the working set.
double price(const State& state) {
  const auto columns = static_cast<double>(std::max<Index>(1, state.held->quadratic.columns()));
  const double means = static_cast<double>(state.fixed.x.cols()) / columns;
  const double products = state.held->quadratic.gram_mode() ? columns / kPassesPerSquare : 1;
  return 0.5 * (means + products);
}

/// Notes what a step left of the violation: what it lacks to a step with the right curvature is lost.
void judge(Held& held, double left) {
  left = std::clamp(left, 1e-3, 1.0);
  held.best = std::clamp(left, kLeft, held.best);
  held.lost += std::max(0.0, 1 - std::log(left) / std::log(held.best));
}

void include_working(State& state) {
  Quadratic& quadratic = state.held->quadratic;
  if (quadratic.gram_mode() && !gram_pays(state, quadratic, state.working.groups))
    quadratic.leave_gram_mode();
  quadratic.include(state.working.groups);
}

}  // namespace

Held::Held(const Fixed& fixed, Vector curvature_given)
    : curvature(std::move(curvature_given)),
      x(*fixed.problem.x, fixed.scale, curvature, fixed.problem.intercept),
      quadratic(x, fixed.problem.groups, curvature, 1, fixed.problem.ridge,
                fixed.options.mode != Mode::kResidual),
      best(kSlowestGood) {}

int held_newton(State& state, double lambda, double tolerance, int max_sweeps) {
  int sweeps = 0;
  double last = 0;
  if (state.held == nullptr) hold(state);
  while (sweeps < max_sweeps) {
    include_working(state);
    Held& held = *state.held;
    const Vector old = state.point.beta;
    const DescentResult result = descend(
        {held.quadratic, state.fixed.penalty, lambda, state.working.groups, &held.factor}, state.point.v,
        state.point.beta, {0.3 * tolerance, max_sweeps - sweeps, state.fixed.options.anderson, kLeft});
    Eigen::RowVectorXd pull = Eigen::RowVectorXd::Zero(1);
    if (state.fixed.problem.intercept) pull = state.point.v.colwise().sum();
    const double violation = std::max(result.before, pull.norm());
    if (violation <= tolerance) {
      state.point.beta = old;
      break;
    }
    sweeps += std::max(1, result.sweeps);
    if (last > 0) judge(held, violation / last);
    last = violation;
    const bool lower = line_search(state, held.x, old, pull / held.curvature.sum(), lambda);
    if (!lower && held.steps == 0) break;
    ++held.steps;
    if (!lower || held.lost > price(state)) hold(state);
  }
  return sweeps;
}

}  // namespace hewn::convex
