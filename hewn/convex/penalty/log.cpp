#include <cmath>

#include "hewn/convex/penalty/scalar.h"

namespace hewn::convex {
namespace {

class Log final : public Scalar {
 public:
  double value(double x) const override { return std::log1p(x); }
  double slope_over(double x) const override { return 1 / (x * (1 + x)); }
  double slope_at_zero() const override { return 1; }
  double inverse(double value) const override { return std::expm1(value); }
  double prox(double z, double mu) const override {
    const double square = (1 + z) * (1 + z) - 4 * mu;
    if (square <= 0) return 0;
    // Both forms of the larger root; the second one keeps its digits where it is small.
    const double root = std::sqrt(square);
    const double x = z > 1 ? ((z - 1) + root) / 2 : 2 * (z - mu) / ((1 - z) + root);
    if (x <= 0) return 0;
    if (mu <= 1) return x;  // convex
    return (x - z) * (x - z) / 2 + mu * std::log1p(x) < z * z / 2 ? x : 0;
  }
  bool is_straight_composed() const override { return true; }
  double concavity() const override { return 1; }
};

}  // namespace

std::unique_ptr<Scalar> make_log(double) { return std::make_unique<Log>(); }

}  // namespace hewn::convex
