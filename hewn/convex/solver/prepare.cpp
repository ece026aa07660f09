#include "hewn/convex/solver/prepare.h"

namespace hewn::convex {

Vector normalised_weights(const Problem& problem) {
  check(problem);
  const Index n = problem.x->rows();
  if (problem.sample_weight.size() == 0) return Vector::Constant(n, 1 / static_cast<double>(n));
  return problem.sample_weight / problem.sample_weight.sum();
}

Vector column_scales(const Problem& problem, const Vector& weights) {
  if (!problem.standardise) return Vector::Ones(problem.x->cols());
  Vector first;
  Vector spread;
  problem.x->moments(weights, first, spread);
  const double tiny = 1e-24;
  return (spread.array() > tiny * first.array().square()).select(spread.array().rsqrt(), 1);
}

}  // namespace hewn::convex
