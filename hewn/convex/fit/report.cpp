#include "hewn/convex/fit/report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hewn/convex/fit/point.h"
#include "hewn/convex/fit/working_set.h"

namespace hewn::convex {
namespace {

/// Selected groups and their values in the units of the data.
void report_support(const State& state, Solution& out) {
  const Groups& groups = state.fixed.problem.groups;
  std::vector<Index> order = state.working.groups;
  std::sort(order.begin(), order.end());
  for (const Index g : order) {
    if (values_of(state, g).squaredNorm() == 0) continue;
    out.support.push_back(g);
    for (const Part& part : groups.parts(g)) {
      Index at = groups.start(g) + part.offset;
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) out.values.push_back(state.point.beta[at++] * state.fixed.scale[j]);
      }
    }
  }
}

}  // namespace

Solution report(State& state, double lambda, int sweeps, double tolerance) {
  const Penalty& penalty = state.fixed.penalty;
  Solution out;
  out.lambda = lambda;
  out.sweeps = sweeps;
  out.loss = state.point.loss;
  out.objective = objective(state, lambda);
  out.intercept = state.point.intercept;
  report_support(state, out);
  double worst = 0;
  for (Index g = 0; g < state.fixed.problem.groups.count(); ++g) {
    if (state.fixed.allowed[to_size(g)]) worst = std::max(worst, violation_of(state, g, lambda));
  }
  out.converged = worst <= tolerance;
  Certificate& certificate = out.certificate;
  certificate.kkt = lambda > 0 ? worst / in_gradient_units(state, lambda) : worst;
  const bool bounded = penalty.is_convex() || penalty.form() == Form::kComposed;
  certificate.gap = bounded ? std::max(0.0, out.objective - lower_bound(state, lambda))
                            : std::numeric_limits<double>::infinity();
  const bool closed =
      certificate.gap <= kCertifiedGap * std::abs(state.null.objective) || state.null.tau == 0;
  certificate.verdict = !out.converged ? Verdict::kNone : closed ? Verdict::kCertified : Verdict::kStationary;
  return out;
}

double in_gradient_units(const State& state, double lambda) {
  if (state.fixed.penalty.is_convex()) return lambda;
  return state.null.own_tau > 0 ? lambda * (state.null.tau / state.null.own_tau) : lambda;
}

double lower_bound(const State& state, double lambda) {
  const Problem& problem = state.fixed.problem;
  const Gradient& gradient = state.gradient;
  if (state.fixed.penalty.singles() > 0) {
    Vector correlation = problem.groups.collect(gradient.values) + problem.ridge * state.point.beta;
    for (Index g = 0; g < problem.groups.count(); ++g) {
      if (!state.fixed.allowed[to_size(g)])
        correlation.segment(problem.groups.start(g), problem.groups.size(g)).setZero();
    }
    return dual_bound(problem, state.fixed.weights, state.point.residual, correlation,
                      {state.fixed.penalty, lambda});
  }
  // Groups whose gradient was not computed are known to stay below lambda times weight, where they count
  // nothing.
  Vector correlation = problem.ridge == 0
                           ? problem.groups.norms(gradient.values)
                           : problem.groups.norms(Matrix(
                                 gradient.values + problem.ridge * problem.groups.spread(state.point.beta)));
  for (Index g = 0; g < correlation.size(); ++g) {
    if (gradient.exact_at[to_size(g)] != state.version || !state.fixed.allowed[to_size(g)])
      correlation[g] = 0;
  }
  return dual_bound(problem, state.fixed.weights, state.point.residual, correlation, lambda);
}

}  // namespace hewn::convex
