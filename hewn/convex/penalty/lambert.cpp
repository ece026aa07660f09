#include <cmath>

#include "hewn/convex/penalty/scalar.h"

namespace hewn::convex {
namespace {

class Lambert final : public Scalar {
 public:
  double value(double x) const override {
    const double w = lambert_w(2 * x * x) / 2;
    return w * w + w;
  }
  double slope_over(double x) const override { return 2 * std::exp(-lambert_w(2 * x * x)); }
  double slope_at_zero() const override { return 0; }
  double inverse(double value) const override {
    const double w = 2 * value / (1 + std::sqrt(1 + 4 * value));
    return std::sqrt(w) * std::exp(w);
  }
  double prox(double z, double mu) const override {
    // x = z / (1 + mu q'(x)/x): the right side rises with x, so that the steps from 0 climb to the smallest
    // stationary point and those from z fall to the largest. One of the two is the minimiser.
    const double low = settle(0, z, mu);
    const double high = settle(z, z, mu);
    const auto cost = [&](double x) { return (x - z) * (x - z) / 2 + mu * value(x); };
    return cost(low) <= cost(high) ? low : high;
  }
  bool is_subadditive() const override { return false; }
  double concavity() const override { return 2 * (2 - std::sqrt(3.0)) * std::exp(-std::sqrt(3.0)); }

 private:
  double settle(double x, double z, double mu) const {
    for (int i = 0; i < 10000; ++i) {
      const double next = z / (1 + mu * slope_over(x));
      const double step = next - x;
      x = next;
      if (std::abs(step) <= 1e-16 * z) break;
    }
    return x;
  }
};

}  // namespace

double lambert_w(double x) {
  if (x <= 0) return 0;
  double w = std::log1p(x);
  if (x > 3) w -= std::log(w);
  for (int i = 0; i < 20; ++i) {  // Halley
    const double e = std::exp(w);
    const double f = w * e - x;
    const double step = f / (e * (w + 1) - (w + 2) * f / (2 * w + 2));
    w -= step;
    if (std::abs(step) <= 1e-16 * w) break;
  }
  return w;
}

std::unique_ptr<Scalar> make_lambert(double) { return std::make_unique<Lambert>(); }

}  // namespace hewn::convex
