#pragma once

#include "hewn/train/tasks/task.h"

namespace hewn::train {

/// Regression: the mean squared error of one number, in squares of the target's standard deviation.
class NumberTask final : public Task {
 public:
  /// Of the target's own unit, what is 1 in a batch.
  explicit NumberTask(double target_scale) : target_scale_(target_scale) {}
  at::Tensor loss(const at::Tensor& output, const at::Tensor& target) const override;
  at::Tensor distil(const at::Tensor& output, const at::Tensor& teacher, double temperature) const override;
  bool has_right_answers() const override { return false; }
  at::Tensor correct(const at::Tensor& output, const at::Tensor& target) const override;
  std::unique_ptr<Meter> meter() const override;

 private:
  double target_scale_;
};

}  // namespace hewn::train
