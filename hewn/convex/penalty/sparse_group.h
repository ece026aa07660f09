#pragma once

#include "hewn/convex/types.h"

namespace hewn::convex {

/// The penalty of one group of a sparse-group LASSO: norm ||b|| + single ||b||_1, lambda and weights in both.
struct SparseGroup {
  double norm = 0;
  double single = 0;

  using Values = Eigen::Ref<const Vector>;
  double value(const Values& b) const { return norm * b.norm() + single * b.lpNorm<1>(); }
  /// How far minus a gradient at b is from what the penalty balances.
  double distance(const Values& slope, const Values& b) const;
  /// The minimiser of ||b - z||^2 / 2 plus `step` times the penalty.
  Vector prox(const Values& z, double step) const;
  /// The largest share, up to 1, of a gradient that the penalty withstands at zero.
  double withstands(const Values& gradient) const;
};

/// The norm of what is left of values once each is moved towards zero by `by`.
double shrunk_norm(const SparseGroup::Values& values, double by);
/// The least lambda at which lambda times this penalty keeps a group with such a gradient at zero.
double least_empty_lambda(const SparseGroup& of_one, const SparseGroup::Values& gradient);

}  // namespace hewn::convex
