#pragma once

#include "hewn/train/tasks/image_task.h"
#include "hewn/train/tasks/task.h"

namespace hewn::train {

/// The next character of a text, at every position: output N x positions x symbols, target N x positions.
class TextTask final : public Task {
 public:
  explicit TextTask(double label_smoothing) : label_smoothing_(label_smoothing) {}
  at::Tensor loss(const at::Tensor& output, const at::Tensor& target) const override;
  at::Tensor correct(const at::Tensor& output, const at::Tensor& target) const override;
  std::unique_ptr<Meter> meter() const override;
  at::Tensor distil(const at::Tensor& output, const at::Tensor& teacher, double temperature) const override;
  std::optional<double> usual_temperature() const override { return ImageTask(0).usual_temperature(); }

 private:
  double label_smoothing_;
};

}  // namespace hewn::train
