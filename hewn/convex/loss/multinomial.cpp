#include <cmath>

#include "hewn/convex/loss/entropy.h"
#include "hewn/convex/loss/loss.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

class Multinomial final : public Loss {
 public:
  void check(const Matrix& y) const override {
    if (y.cols() < 2) throw Error("multinomial: expected at least two classes");
    for (Index i = 0; i < y.rows(); ++i) {
      if (!(y.row(i).minCoeff() >= 0) || !(std::abs(y.row(i).sum() - 1) < 1e-9)) {
        throw Error(str("multinomial: expected shares of classes that sum to 1 for sample ", i + 1));
      }
    }
  }
  double value(const Matrix& eta, const Matrix& y, const Vector& weights, Matrix& residual) const override {
    const Eigen::ArrayXd top = eta.rowwise().maxCoeff().array();
    residual.resize(eta.rows(), eta.cols());
    Eigen::ArrayXd sum = Eigen::ArrayXd::Zero(eta.rows());
    Eigen::ArrayXd own = Eigen::ArrayXd::Zero(eta.rows());
    for (Index k = 0; k < eta.cols(); ++k) {
      residual.col(k).array() = (eta.col(k).array() - top).exp();
      sum += residual.col(k).array();
      own += y.col(k).array() * eta.col(k).array();
    }
    const Eigen::ArrayXd inverse = 1 / sum;
    for (Index k = 0; k < eta.cols(); ++k) {
      residual.col(k).array() = y.col(k).array() - residual.col(k).array() * inverse;
    }
    return (weights.array() * (top + sum.log() - own)).sum();
  }
  // Boehning: the Hessian is at most (I - 11'/K) / 2.
  double curvature() const override { return 0.5; }
  Vector second_derivative(const Matrix&, const Matrix&) const override {
    throw Error("multinomial: outputs share curvature; there is no second derivative per sample");
  }
  Matrix diagonal(const Matrix& eta, const Matrix&) const override {
    Matrix mean = eta;
    predict(mean);
    return mean.array() * (1 - mean.array());
  }
  Matrix hessian_sum(const Matrix& eta, const Matrix&, const Vector& weights) const override {
    Matrix mean = eta;
    predict(mean);
    Matrix out = -(mean.transpose() * weights.asDiagonal() * mean);
    out.diagonal() += mean.transpose() * weights;
    return out;
  }
  double dual(const Matrix& y, const Matrix& offset, const Matrix& theta,
              const Vector& weights) const override {
    double sum = 0;
    for (Index i = 0; i < y.rows(); ++i) {
      for (Index k = 0; k < y.cols(); ++k) {
        sum -= weights[i] * x_log_x(y(i, k) - theta(i, k));
        if (offset.size() != 0) sum -= weights[i] * theta(i, k) * offset(i, k);
      }
    }
    return sum;
  }
  Eigen::RowVectorXd start(const Eigen::RowVectorXd& mean) const override {
    const Eigen::RowVectorXd logs = mean.array().max(1e-6).log().matrix();
    return logs.array() - logs.mean();
  }
  void predict(Matrix& eta) const override {
    eta = (eta.colwise() - eta.rowwise().maxCoeff()).array().exp();
    const Eigen::ArrayXd sum = eta.rowwise().sum();
    eta.array().colwise() /= sum;
  }
  bool may_diverge() const override { return true; }
};

}  // namespace

const Loss& multinomial() {
  static const Multinomial loss;
  return loss;
}

}  // namespace hewn::convex
