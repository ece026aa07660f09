#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/convex/types.h"

namespace hewn::convex {

/// A convex loss f(eta, y) of n samples with K outputs, smooth in eta. Stateless.
class Loss {
 public:
  virtual ~Loss() = default;

  /// Throws Error, naming the sample, where a response does not fit the loss.
  virtual void check(const Matrix& y) const = 0;
  /// The weighted sum of f; `residual` becomes -df/deta (y minus the mean), not weighted.
  virtual double value(const Matrix& eta, const Matrix& y, const Vector& weights, Matrix& residual) const = 0;
  /// A bound of the Hessian in eta for every sample and every eta; infinity where there is none.
  virtual double curvature() const = 0;
  /// The second derivative per sample; losses with one output only.
  virtual Vector second_derivative(const Matrix& eta, const Matrix& y) const = 0;
  /// n x K: the second derivative in each output alone.
  virtual Matrix diagonal(const Matrix& eta, const Matrix& y) const { return second_derivative(eta, y); }
  /// K x K: the weighted sum of the Hessians in eta. May be singular along (1, ..., 1).
  virtual Matrix hessian_sum(const Matrix& eta, const Matrix& y, const Vector& weights) const {
    return Matrix::Constant(1, 1, weights.dot(second_derivative(eta, y)));
  }
  /// -sum of w f*(-theta), with theta = scale * residual for a scale in [0, 1]: the part of the dual
  /// objective that the loss gives. `offset` is empty or n x K.
  virtual double dual(const Matrix& y, const Matrix& offset, const Matrix& theta,
                      const Vector& weights) const = 0;
  /// The intercept of the model without features, from weighted mean responses.
  virtual Eigen::RowVectorXd start(const Eigen::RowVectorXd& mean) const = 0;
  /// Means from eta, in place: what the model predicts.
  virtual void predict(Matrix& eta) const = 0;
  /// Without ridge a minimiser over a set of features may not exist.
  virtual bool may_diverge() const { return false; }
};

struct LossRow {
  std::string_view name;
  std::string_view help;
  const Loss& (*get)();
};
const std::vector<LossRow>& losses();
/// Throws Error with the known names for an unknown one.
const Loss& find_loss(const std::string& name);

}  // namespace hewn::convex
