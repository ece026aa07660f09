#include <algorithm>
#include <cmath>

#include "hewn/convex/loss/entropy.h"
#include "hewn/convex/loss/loss.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

class Binomial final : public Loss {
 public:
  void check(const Matrix& y) const override {
    if (y.cols() != 1) throw Error(str("binomial: expected one response, got ", y.cols()));
    for (Index i = 0; i < y.rows(); ++i) {
      if (!(y(i, 0) >= 0 && y(i, 0) <= 1)) {
        throw Error(
            str("binomial: expected responses between 0 and 1, got ", y(i, 0), " for sample ", i + 1));
      }
    }
  }
  double value(const Matrix& eta, const Matrix& y, const Vector& weights, Matrix& residual) const override {
    // With z = exp(-|eta|): log(1 + e^eta) = max(eta, 0) + log(1 + z).
    const Eigen::ArrayXd z = (-eta.col(0).array().abs()).exp();
    const Eigen::ArrayXd larger = 1 / (1 + z);
    residual.resize(eta.rows(), 1);
    residual.col(0) = y.col(0).array() - (eta.col(0).array() >= 0).select(larger, 1 - larger);
    return (weights.array() *
            (eta.col(0).array().max(0.0) + (1 + z).log() - y.col(0).array() * eta.col(0).array()))
        .sum();
  }
  double curvature() const override { return 0.25; }
  Vector second_derivative(const Matrix& eta, const Matrix&) const override {
    const Eigen::ArrayXd z = (-eta.col(0).array().abs()).exp();
    return z / (1 + z).square();
  }
  double dual(const Matrix& y, const Matrix& offset, const Matrix& theta,
              const Vector& weights) const override {
    double sum = 0;
    for (Index i = 0; i < y.rows(); ++i) {
      const double u = y(i, 0) - theta(i, 0);
      sum -= weights[i] * (x_log_x(u) + x_log_x(1 - u));
      if (offset.size() != 0) sum -= weights[i] * theta(i, 0) * offset(i, 0);
    }
    return sum;
  }
  Eigen::RowVectorXd start(const Eigen::RowVectorXd& mean) const override {
    const Eigen::ArrayXXd m = mean.array().max(1e-6).min(1 - 1e-6);
    return (m / (1 - m)).log().matrix();
  }
  void predict(Matrix& eta) const override { eta = 1 / (1 + (-eta.array()).exp()); }
  bool may_diverge() const override { return true; }
};

}  // namespace

const Loss& binomial() {
  static const Binomial loss;
  return loss;
}

}  // namespace hewn::convex
