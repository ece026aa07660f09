#pragma once

#include <memory>
#include <span>

#include "hewn/convex/solver/quadratic.h"

namespace hewn::convex {

/// Minus the quadratic's gradient while coefficients change, in one of two forms that trade memory for
/// products.
class Slopes {
 public:
  virtual ~Slopes() = default;

  /// out (m x outputs) = minus the gradient of a part's coefficients, whose values are `b`.
  virtual void read(const Part& part, const PartBasis& basis, const ConstView& b, View out) const = 0;
  /// The part's coefficients grew by `delta`.
  virtual void change(const Part& part, const PartBasis& basis, const ConstView& delta) = 0;
  /// Single coefficients of the first output, by columns of the quadratic, grew by `delta`. Gram form only.
  virtual void change_columns(std::span<const int> columns, const double* delta) = 0;

  /// All of it, affine in the coefficients; may be replaced by a combination of earlier ones.
  virtual const Matrix& all() const = 0;
  virtual void replace(Matrix all) = 0;
  /// The quadratic at the coefficients of `other` minus the quadratic at the current ones; `products` is
  /// sum over entries of (other - current) * (minus the gradient at other + minus the gradient at current),
  /// which only the Gram form can use, and `squares` the difference of squared norms.
  virtual double difference(const Matrix& other, double products, double squares) const = 0;
};

/// `v` as in descend().
std::unique_ptr<Slopes> gram_slopes(const Quadratic& quadratic, const ConstView& v, const Vector& beta,
                                    const std::vector<Index>& working);
std::unique_ptr<Slopes> residual_slopes(const Quadratic& quadratic, const ConstView& v);

}  // namespace hewn::convex
