#include "hewn/train/task.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>

namespace hewn::train {
namespace {

constexpr int64_t kIgnoreNothing = -100;

at::Tensor cross_entropy(const at::Tensor& output, const at::Tensor& target, int64_t reduction,
                         double smoothing) {
  return at::cross_entropy_loss(output, target, {}, reduction, kIgnoreNothing, smoothing);
}

}  // namespace

at::Tensor Task::loss(const at::Tensor& output, const at::Tensor& target) const {
  return cross_entropy(output, target, at::Reduction::Mean, label_smoothing_);
}

at::Tensor Task::correct(const at::Tensor& output, const at::Tensor& target) {
  return (output.argmax(1) == target).sum();
}

void Meter::add(const at::Tensor& output, const at::Tensor& target) {
  const at::Tensor loss = cross_entropy(output, target, at::Reduction::Sum, 0).to(at::kDouble);
  const at::Tensor correct = Task::correct(output, target);
  loss_ = loss_.defined() ? loss_ + loss : loss;
  correct_ = correct_.defined() ? correct_ + correct : correct;
  count_ += target.size(0);
}

Metrics Meter::result() const {
  const auto count = static_cast<double>(count_);
  return {{"accuracy", 100.0 * static_cast<double>(correct_.item<int64_t>()) / count},
          {"loss", loss_.item<double>() / count}};
}

}  // namespace hewn::train
