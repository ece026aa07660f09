#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hewn::convex {

/// q: an increasing function of a group's norm x >= 0 with q(0) = 0.
class Scalar {
 public:
  virtual ~Scalar() = default;

  virtual double value(double x) const = 0;
  /// q'(x) / x for x > 0: finite at 0 where q is smooth there. Never increases with x.
  virtual double slope_over(double x) const = 0;
  /// q'(0+), possibly infinite.
  virtual double slope_at_zero() const = 0;
  virtual double inverse(double value) const = 0;
  /// The x >= 0 that minimises (x - z)^2 / 2 + mu q(x), for z >= 0: the global minimiser, 0 in a tie.
  virtual double prox(double z, double mu) const = 0;
  /// q(x + y) <= q(x) + q(y) everywhere: what the composed penalty needs.
  virtual bool is_subadditive() const { return true; }
  /// q^-1(s + q(x)) is a straight line in x for every s: composed, it is to one group what its norm is.
  virtual bool is_straight_composed() const { return false; }
  /// q'' is nowhere below minus this.
  virtual double concavity() const = 0;
};

struct ScalarRow {
  std::string_view name;
  std::string_view help;
  double parameter;  // where the name is given without one; 0: takes none
  std::unique_ptr<Scalar> (*make)(double parameter);
};
const std::vector<ScalarRow>& scalars();
/// "abs", "log", "power:0.5", ... Throws Error with the known names for an unknown one.
std::unique_ptr<Scalar> make_scalar(const std::string& text);

/// The principal branch of W(x) e^W(x) = x, for x >= 0.
double lambert_w(double x);

}  // namespace hewn::convex
