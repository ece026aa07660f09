#pragma once

#include <span>

#include "hewn/train/tasks/task.h"

namespace hewn::train {

/// Click-through prediction: binary cross-entropy of one logit per sample.
class ClickTask final : public Task {
 public:
  at::Tensor loss(const at::Tensor& output, const at::Tensor& target) const override;
  at::Tensor distil(const at::Tensor& output, const at::Tensor& teacher, double temperature) const override;
  /// A logit says how probable a click is; evened out, it would say less.
  std::optional<double> usual_temperature() const override { return 1; }
  at::Tensor correct(const at::Tensor& output, const at::Tensor& target) const override;
  std::unique_ptr<Meter> meter() const override;
};

/// The exact area under the ROC curve: how often a click scores above a sample without one, ties half. NaN
/// where one of the two kinds is missing.
double area_under_curve(std::span<const float> scores, std::span<const float> clicked);

}  // namespace hewn::train
