#include "hewn/convex/fit/state.h"

#include <algorithm>
#include <cmath>

#include "hewn/convex/solver/prepare.h"
#include "hewn/core/error.h"

namespace hewn::convex {

namespace {

/// Whether steps on one bound of the curvature are the better ones: where they are exact, where more outputs
/// would make a Hessian large, and where a block update must not hope for more than is sure.
bool bounds(const Problem& problem, const Penalty& penalty, const Options& options) {
  if (options.curvature != Curvature::kAuto) return options.curvature == Curvature::kFixed;
  const double bound = problem.loss->curvature();
  if (bound == 1) return true;
  return std::isfinite(bound) && (problem.y.cols() > 1 || !penalty.is_convex());
}

}  // namespace

Fixed::Fixed(const Problem& given, const Penalty& penalty_given, const Options& options_given)
    : problem(given),
      penalty(penalty_given),
      options(options_given),
      weights(normalised_weights(problem)),
      scale(column_scales(problem, weights)),
      x(*problem.x, scale, weights, problem.intercept),
      fixed_curvature(bounds(problem, penalty, options)),
      reach(Vector::Zero(problem.groups.count())) {
  Vector first;
  Vector spread;
  problem.x->moments(weights, first, spread);
  if (!problem.intercept) spread += first.cwiseAbs2();
  for (Index g = 0; g < problem.groups.count(); ++g) {
    for (const Part& part : problem.groups.parts(g)) {
      for (const int j : part.features) reach[g] += spread[j] * scale[j] * scale[j];
    }
  }
  reach = reach.cwiseSqrt() * (1 + 1e-9);
  const double column = std::sqrt(((spread + first.cwiseAbs2()).array() * scale.array().square()).maxCoeff());
  allowed.assign(to_size(problem.groups.count()), options.only.empty());
  for (const Index g : options.only) allowed[to_size(g)] = true;
  noise = 1e-14 * column *
          std::max(1e-200, std::sqrt((problem.y.array().square().colwise() * weights.array()).sum()));
}

State::State(const Problem& problem, const Penalty& penalty, const Options& options)
    : fixed(problem, penalty, options),
      quadratic(fixed.x, problem.groups, fixed.weights, fixed.fixed_curvature ? problem.loss->curvature() : 1,
                problem.ridge, options.mode != Mode::kResidual),
      probe(fixed.x, problem.groups, fixed.weights, quadratic.factor(), problem.ridge, false) {
  if (!std::isfinite(quadratic.factor()))
    throw Error("this loss has no curvature bound: it needs Newton steps");
  const Index groups = problem.groups.count();
  const Index outputs = problem.y.cols();
  point.beta = Vector::Zero(problem.groups.total());
  point.intercept = Eigen::RowVectorXd::Zero(outputs);
  if (problem.intercept) point.intercept = problem.loss->start(fixed.weights.transpose() * problem.y);
  point.eta = Matrix::Zero(fixed.x.rows(), outputs);
  if (problem.offset.size() != 0) point.eta = problem.offset;
  point.eta.rowwise() += point.intercept;
  gradient.values.resize(fixed.x.cols(), outputs);
  gradient.norm = Vector::Zero(groups);
  gradient.known_at.assign(to_size(groups), -1);
  gradient.exact_at.assign(to_size(groups), -1);
  working.has.assign(to_size(groups), false);
}

}  // namespace hewn::convex
