#include "hewn/train/tasks/image_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full.h>
#include <ATen/ops/kl_div.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

namespace hewn::train {
namespace {

constexpr int64_t kIgnoreNothing = -100;

at::Tensor cross_entropy(const at::Tensor& output, const at::Tensor& target, int64_t reduction,
                         double smoothing) {
  return at::cross_entropy_loss(output, target, {}, reduction, kIgnoreNothing, smoothing);
}

at::Tensor count_correct(const at::Tensor& output, const at::Tensor& target) {
  return (output.argmax(1) == target).sum();
}

class ImageMeter final : public Meter {
 public:
  void add(const at::Tensor& output, const at::Tensor& target) override {
    const at::Tensor loss = cross_entropy(output, target, at::Reduction::Sum, 0).to(at::kDouble);
    const at::Tensor correct = count_correct(output, target).to(at::kDouble);
    const at::Tensor count = at::full({}, target.size(0), loss.options());
    const at::Tensor batch = at::stack({loss, correct, count});
    sums_ = sums_.defined() ? sums_ + batch : batch;
  }

  void combine(dist::Communicator& group) override {
    if (!sums_.defined()) sums_ = at::zeros({3}, at::TensorOptions(at::kDouble).device(group.device()));
    group.sum(sums_);
  }

  run::Metrics result() const override {
    const at::Tensor sums = sums_.cpu();
    const double* values = sums.data_ptr<double>();
    return {{"accuracy", 100.0 * values[1] / values[2]}, {"loss", values[0] / values[2]}};
  }

 private:
  at::Tensor sums_;  // loss, right answers, images
};

}  // namespace

at::Tensor ImageTask::loss(const at::Tensor& output, const at::Tensor& target) const {
  return cross_entropy(output, target, at::Reduction::Mean, label_smoothing_);
}

at::Tensor ImageTask::distil(const at::Tensor& output, const at::Tensor& teacher, double temperature) const {
  const at::Tensor said = (output.to(at::kFloat) / temperature).log_softmax(1);
  const at::Tensor wanted = (teacher.to(at::kFloat) / temperature).log_softmax(1);
  // Gradients shrink with the square of the temperature; so they stay beside those of the labels.
  const double scale = temperature * temperature / static_cast<double>(output.size(0));
  return scale * at::kl_div(said, wanted, at::Reduction::Sum, /*log_target=*/true);
}

at::Tensor ImageTask::correct(const at::Tensor& output, const at::Tensor& target) const {
  return count_correct(output, target);
}

std::unique_ptr<Meter> ImageTask::meter() const { return std::make_unique<ImageMeter>(); }

}  // namespace hewn::train
