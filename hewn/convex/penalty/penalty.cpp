#include "hewn/convex/penalty/penalty.h"

#include <cmath>

#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

/// unit q(x / unit).
class InUnits final : public Scalar {
 public:
  InUnits(std::shared_ptr<const Scalar> q, double unit) : q_(std::move(q)), unit_(unit) {}

  double value(double x) const override { return unit_ * q_->value(x / unit_); }
  double slope_over(double x) const override { return q_->slope_over(x / unit_) / unit_; }
  double slope_at_zero() const override { return q_->slope_at_zero(); }
  double inverse(double value) const override { return unit_ * q_->inverse(value / unit_); }
  double prox(double z, double mu) const override { return unit_ * q_->prox(z / unit_, mu / unit_); }
  bool is_subadditive() const override { return q_->is_subadditive(); }
  bool is_straight_composed() const override { return q_->is_straight_composed(); }
  double concavity() const override { return q_->concavity() / unit_; }

 private:
  std::shared_ptr<const Scalar> q_;
  double unit_;
};

}  // namespace

Penalty::Penalty() : scalar_(make_scalar("abs")) {}

Penalty::Penalty(Form form, const std::string& scalar, double unit)
    : form_(form), scalar_(make_scalar(scalar)), is_group_lasso_(scalar == "abs") {
  if (!(unit > 0) || std::isinf(unit)) throw Error(str("unit: expected a number above 0, got ", unit));
  if (unit != 1 && !is_group_lasso_) scalar_ = std::make_shared<InUnits>(scalar_, unit);
  if (form == Form::kComposed && !scalar_->is_subadditive()) {
    throw Error(str("penalty ", scalar,
                    ": is not subadditive, so that its composed form bounds nothing; use its sum"));
  }
}

Penalty Penalty::sparse_groups(double share) {
  if (!(share >= 0 && share <= 1)) throw Error(str("singles: expected a share from 0 to 1, got ", share));
  Penalty out;
  out.singles_ = share;
  return out;
}

double Penalty::value(const Vector& norms, const Vector& weights) const {
  double sum = 0;
  for (Index g = 0; g < norms.size(); ++g) {
    if (weights[g] > 0 && norms[g] > 0) sum += scalar_->value(weights[g] * norms[g]);
  }
  return form_ == Form::kSum ? sum : scalar_->inverse(sum);
}

double Along::value(double r) const {
  const Scalar& q = penalty->scalar();
  const double own = r > 0 ? q.value(weight * r) : 0;
  return lambda * (penalty->form() == Form::kSum ? own : q.inverse(others + own));
}

double Along::slope_over(double r) const {
  const Scalar& q = penalty->scalar();
  const double x = weight * r;
  const double own = weight * weight * q.slope_over(x);
  if (penalty->form() == Form::kSum) return lambda * own;
  // (q^{-1})'(s) = 1 / q'(q^{-1}(s)). With one group it is q's own slope, and the quotient is exactly 1/r.
  if (others == 0) return lambda * weight / r;
  const double total = q.inverse(others + q.value(x));
  return lambda * own / (q.slope_over(total) * total);
}

double Along::slope_at_zero() const {
  const Scalar& q = penalty->scalar();
  if (penalty->form() == Form::kSum) return lambda * weight * q.slope_at_zero();
  if (others == 0) return lambda * weight;
  const double total = q.inverse(others);
  return lambda * weight * q.slope_at_zero() / (q.slope_over(total) * total);
}

}  // namespace hewn::convex
