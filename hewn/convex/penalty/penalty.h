#pragma once

#include <memory>
#include <string>

#include "hewn/convex/groups.h"
#include "hewn/convex/penalty/scalar.h"
#include "hewn/convex/penalty/sparse_group.h"
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

  /// Sparse-group LASSO: a share of the penalty, 0 to 1, goes to the absolute values of single coefficients
  /// and the rest to the norms of groups. 0 is the group LASSO. Throws Error outside.
  static Penalty sparse_groups(double share);

  Form form() const { return form_; }
  const Scalar& scalar() const { return *scalar_; }
  bool is_group_lasso() const { return is_group_lasso_ && singles_ == 0; }
  /// One stationary point is as good as any other: the group LASSO, with single coefficients or without.
  bool is_convex() const { return is_group_lasso_; }
  /// The share of single coefficients.
  double singles() const { return singles_; }
  /// What a group pays at this lambda; of a penalty with single coefficients.
  SparseGroup of_group(const Groups& groups, Index group, double lambda) const {
    return {lambda * (1 - singles_) * groups.weight(group), lambda * singles_ * groups.single_weight(group)};
  }
  /// Without lambda; of a penalty of norms.
  double value(const Vector& norms, const Vector& weights) const;

 private:
  Form form_ = Form::kSum;
  std::shared_ptr<const Scalar> scalar_;
  bool is_group_lasso_ = true;
  double singles_ = 0;
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
