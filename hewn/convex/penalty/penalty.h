#pragma once

#include <memory>
#include <string>

#include "hewn/convex/penalty/scalar.h"
#include "hewn/convex/types.h"

namespace hewn::convex {

enum class Form {
  kSum,       // lambda sum q(w_i r_i)
  kComposed,  // lambda q^{-1}(sum q(w_i r_i))
};

/// A penalty of the group norms r_i with weights w_i. Cheap to copy.
class Penalty {
 public:
  /// Group LASSO: both forms of abs.
  Penalty();
  /// `unit` is the size of a norm that q takes for 1: unit q(x / unit) stands for q(x), which has the same
  /// slope at 0 where q has a finite one there. Throws Error for a composed q that is not subadditive:
  /// nothing is known about it.
  Penalty(Form form, const std::string& scalar, double unit = 1);

  Form form() const { return form_; }
  const Scalar& scalar() const { return *scalar_; }
  bool is_group_lasso() const { return is_group_lasso_; }
  /// Without lambda.
  double value(const Vector& norms, const Vector& weights) const;

 private:
  Form form_ = Form::kSum;
  std::shared_ptr<const Scalar> scalar_;
  bool is_group_lasso_ = true;
};

/// A penalty as a function of one group's norm, all others held.
struct Along {
  const Penalty* penalty;
  double lambda;
  double weight;
  double others;  // sum of q(w_j r_j) over the other groups; used by the composed form

  double value(double r) const;
  /// Its derivative divided by r, for r > 0.
  double slope_over(double r) const;
  double slope_at_zero() const;
};

}  // namespace hewn::convex
