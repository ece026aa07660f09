#include <cmath>

#include "hewn/convex/loss/loss.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

class Gaussian final : public Loss {
 public:
  void check(const Matrix& y) const override {
    for (Index i = 0; i < y.rows(); ++i) {
      if (!y.row(i).allFinite()) throw Error(str("gaussian: response of sample ", i + 1, " is not a number"));
    }
  }
  double value(const Matrix& eta, const Matrix& y, const Vector& weights, Matrix& residual) const override {
    residual = y - eta;
    return 0.5 * (residual.array().square().colwise() * weights.array()).sum();
  }
  double curvature() const override { return 1; }
  Vector second_derivative(const Matrix& eta, const Matrix&) const override {
    return Vector::Ones(eta.rows());
  }
  Matrix diagonal(const Matrix& eta, const Matrix&) const override {
    return Matrix::Ones(eta.rows(), eta.cols());
  }
  Matrix hessian_sum(const Matrix& eta, const Matrix&, const Vector& weights) const override {
    return weights.sum() * Matrix::Identity(eta.cols(), eta.cols());
  }
  double dual(const Matrix& y, const Matrix& offset, const Matrix& theta,
              const Vector& weights) const override {
    Matrix target = y;
    if (offset.size() != 0) target -= offset;
    return ((theta.array() * (target - 0.5 * theta).array()).colwise() * weights.array()).sum();
  }
  Eigen::RowVectorXd start(const Eigen::RowVectorXd& mean) const override { return mean; }
  void predict(Matrix&) const override {}
};

}  // namespace

const Loss& gaussian() {
  static const Gaussian loss;
  return loss;
}

}  // namespace hewn::convex
