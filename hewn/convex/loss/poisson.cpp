#include <cmath>
#include <limits>

#include "hewn/convex/loss/entropy.h"
#include "hewn/convex/loss/loss.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

class Poisson final : public Loss {
 public:
  void check(const Matrix& y) const override {
    if (y.cols() != 1) throw Error(str("poisson: expected one response, got ", y.cols()));
    for (Index i = 0; i < y.rows(); ++i) {
      if (!(y(i, 0) >= 0) || std::isinf(y(i, 0))) {
        throw Error(str("poisson: expected counts of at least 0, got ", y(i, 0), " for sample ", i + 1));
      }
    }
  }
  double value(const Matrix& eta, const Matrix& y, const Vector& weights, Matrix& residual) const override {
    const Eigen::ArrayXd mean = eta.col(0).array().exp();
    residual.resize(eta.rows(), 1);
    residual.col(0) = y.col(0).array() - mean;
    return (weights.array() * (mean - y.col(0).array() * eta.col(0).array())).sum();
  }
  double curvature() const override { return std::numeric_limits<double>::infinity(); }
  Vector second_derivative(const Matrix& eta, const Matrix&) const override {
    return eta.col(0).array().exp();
  }
  double dual(const Matrix& y, const Matrix& offset, const Matrix& theta,
              const Vector& weights) const override {
    double sum = 0;
    for (Index i = 0; i < y.rows(); ++i) {
      const double u = y(i, 0) - theta(i, 0);
      sum -= weights[i] * (x_log_x(u) - u);
      if (offset.size() != 0) sum -= weights[i] * theta(i, 0) * offset(i, 0);
    }
    return sum;
  }
  Eigen::RowVectorXd start(const Eigen::RowVectorXd& mean) const override {
    return mean.array().max(1e-6).log().matrix();
  }
  void predict(Matrix& eta) const override { eta = eta.array().exp(); }
  bool may_diverge() const override { return true; }
};

}  // namespace

const Loss& poisson() {
  static const Poisson loss;
  return loss;
}

}  // namespace hewn::convex
