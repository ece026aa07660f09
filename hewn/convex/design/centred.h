#pragma once

#include "hewn/convex/design/design.h"

namespace hewn::convex {

/// (X - 1 mean') scaled by columns, without forming it. Centring under the quadratic's weights makes the
/// intercept orthogonal to every column, so that it drops out of block updates.
class Centred {
 public:
  /// `scale` multiplies each column. With `centre`, means are taken under `weights` (sum 1).
  Centred(const Design& base, const Vector& scale, const Vector& weights, bool centre);

  Index rows() const { return base_->rows(); }
  Index cols() const { return base_->cols(); }
  const Design& base() const { return *base_; }
  const Vector& scale() const { return scale_; }
  /// Of the scaled columns; zeros where not centred.
  const Vector& mean() const { return mean_; }

  /// out = columns' v, where `sums` are v's column sums.
  void transpose_times(Features features, const ConstView& v, const Eigen::RowVectorXd& sums, View out) const;
  void transpose_times(const ConstView& v, const Eigen::RowVectorXd& sums, View out) const;
  /// out += columns * coefficients.
  void add_times(Features features, const ConstView& coefficients, View out) const;
  /// out = columns_a' diag(weights) columns_b with the weights of the means.
  void gram(Features a, Features b, View out) const;

 private:
  const Design* base_;
  Vector scale_;
  Vector weights_;
  Vector mean_;
  bool centre_;
};

}  // namespace hewn::convex
