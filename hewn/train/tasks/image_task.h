#pragma once

#include "hewn/train/tasks/task.h"

namespace hewn::train {

/// Classification of images, or of rows of a table: cross-entropy, accuracy in percent.
class ImageTask final : public Task {
 public:
  explicit ImageTask(double label_smoothing) : label_smoothing_(label_smoothing) {}
  at::Tensor loss(const at::Tensor& output, const at::Tensor& target) const override;
  at::Tensor distil(const at::Tensor& output, const at::Tensor& teacher, double temperature) const override;
  std::optional<double> usual_temperature() const override { return 4; }
  at::Tensor correct(const at::Tensor& output, const at::Tensor& target) const override;
  std::unique_ptr<Meter> meter() const override;

 private:
  double label_smoothing_;
};

}  // namespace hewn::train
