#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hewn/convex/loss/loss.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

// Proportional hazards: a response is the time of an event, or minus the time at which a sample was last seen
// without one. Events at the same time share their risk set (Breslow).
class Cox final : public Loss {
 public:
  void check(const Matrix& y) const override {
    if (y.cols() != 1) throw Error(str("cox: expected one response, got ", y.cols()));
    for (Index i = 0; i < y.rows(); ++i) {
      if (y(i, 0) == 0 || !std::isfinite(y(i, 0)))
        throw Error(str("cox: expected a time above 0 for sample ", i + 1, ", got ", std::abs(y(i, 0))));
    }
    if (!(y.array() > 0).any()) throw Error("cox: no sample has an event");
  }
  double value(const Matrix& eta, const Matrix& y, const Vector& weights, Matrix& residual) const override {
    const Hazard hazard = hazard_of(eta, y, weights);
    residual.resize(eta.rows(), 1);
    for (Index i = 0; i < eta.rows(); ++i) residual(i, 0) = (y(i, 0) > 0 ? 1 : 0) - hazard.expected[i];
    return hazard.value;
  }
  double curvature() const override { return std::numeric_limits<double>::infinity(); }
  // What the Hessian is without what it takes away between samples: never less than all of it.
  Vector second_derivative(const Matrix& eta, const Matrix& y) const override {
    return hazard_of(eta, y, Vector::Constant(eta.rows(), 1 / static_cast<double>(eta.rows()))).expected;
  }
  // No bound is known here: solutions are called stationary.
  double dual(const Matrix&, const Matrix&, const Matrix&, const Vector&) const override {
    return -std::numeric_limits<double>::infinity();
  }
  Eigen::RowVectorXd start(const Eigen::RowVectorXd& mean) const override {
    return Eigen::RowVectorXd::Zero(mean.size());
  }
  void predict(Matrix& eta) const override { eta = eta.array().exp(); }
  bool may_diverge() const override { return true; }

 private:
  struct Hazard {
    double value = 0;
    Vector expected;  // events of each sample under the model
  };

  static Hazard hazard_of(const Matrix& eta, const Matrix& y, const Vector& weights) {
    const Index n = eta.rows();
    std::vector<Index> order(to_size(n));
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(),
              [&](Index a, Index b) { return std::abs(y(a, 0)) > std::abs(y(b, 0)); });
    const double top = eta.maxCoeff();
    const Vector risk = (eta.col(0).array() - top).exp();
    const auto count = static_cast<double>((weights.array() > 0).count());
    Hazard out;
    out.expected = Vector::Zero(n);
    // From the last time to the first: who is at risk; then back: what all events so far add to a sample's
    // hazard.
    double at_risk = 0;
    std::vector<double> steps(to_size(n), 0);
    for (std::size_t i = 0; i < order.size();) {
      std::size_t end = i;
      double events = 0;
      double sum = 0;
      for (; end < order.size() && std::abs(y(order[end], 0)) == std::abs(y(order[i], 0)); ++end) {
        const Index at = order[end];
        at_risk += weights[at] * risk[at];
        if (!(y(at, 0) > 0)) continue;
        events += weights[at];
        sum += weights[at] * eta(at, 0);
      }
      if (events > 0) {
        out.value += events * (std::log(count * at_risk) + top) - sum;
        steps[i] = events / at_risk;
      }
      i = end;
    }
    double cumulative = 0;
    for (std::size_t i = order.size(); i > 0;) {
      std::size_t first = i - 1;
      while (first > 0 && std::abs(y(order[first - 1], 0)) == std::abs(y(order[i - 1], 0))) --first;
      cumulative += steps[first];
      for (std::size_t j = first; j < i; ++j) out.expected[order[j]] = risk[order[j]] * cumulative;
      i = first;
    }
    return out;
  }
};

}  // namespace

const Loss& cox() {
  static const Cox loss;
  return loss;
}

}  // namespace hewn::convex
