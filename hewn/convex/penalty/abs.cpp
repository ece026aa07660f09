#include <algorithm>

#include "hewn/convex/penalty/scalar.h"

namespace hewn::convex {
namespace {

class Abs final : public Scalar {
 public:
  double value(double x) const override { return x; }
  double slope_over(double x) const override { return 1 / x; }
  double slope_at_zero() const override { return 1; }
  double inverse(double value) const override { return value; }
  double prox(double z, double mu) const override { return std::max(0.0, z - mu); }
  double concavity() const override { return 0; }
};

}  // namespace

std::unique_ptr<Scalar> make_abs(double) { return std::make_unique<Abs>(); }

}  // namespace hewn::convex
