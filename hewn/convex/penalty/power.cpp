#include <cmath>
#include <limits>

#include "hewn/convex/penalty/scalar.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

class Power final : public Scalar {
 public:
  Power(double exponent, double factor) : p_(exponent), c_(factor) {}

  double value(double x) const override { return c_ * std::pow(x, p_); }
  double slope_over(double x) const override { return c_ * p_ * std::pow(x, p_ - 2); }
  double slope_at_zero() const override { return std::numeric_limits<double>::infinity(); }
  double inverse(double value) const override { return std::pow(value / c_, 1 / p_); }
  double prox(double z, double mu) const override {
    const double m = mu * c_;
    if (m <= 0) return z;
    // 0 and the far root are equally good where the root is `jump`.
    const double jump = std::pow(2 * m * (1 - p_), 1 / (2 - p_));
    if (z <= jump + m * p_ * std::pow(jump, p_ - 1)) return 0;
    // x + m p x^(p-1) - z is convex and rises right of its far root: Newton from z falls onto it.
    double x = z;
    for (int i = 0; i < 60; ++i) {
      const double slope = m * p_ * std::pow(x, p_ - 1);
      const double step = (x + slope - z) / (1 + (p_ - 1) * slope / x);
      x -= step;
      if (std::abs(step) <= 1e-16 * x) break;
    }
    return x;
  }
  double concavity() const override { return std::numeric_limits<double>::infinity(); }

 private:
  double p_;
  double c_;
};

}  // namespace

std::unique_ptr<Scalar> make_power(double exponent) {
  if (!(exponent > 0 && exponent < 1)) {
    throw Error(str("penalty power: expected an exponent between 0 and 1, got ", exponent));
  }
  return std::make_unique<Power>(exponent, 1);
}

std::unique_ptr<Scalar> make_l23(double) { return std::make_unique<Power>(2.0 / 3, 1.5 * std::cbrt(2.0)); }

}  // namespace hewn::convex
