#include "hewn/train/image_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cross_entropy_loss.h>

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
    const at::Tensor correct = count_correct(output, target);
    loss_ = loss_.defined() ? loss_ + loss : loss;
    correct_ = correct_.defined() ? correct_ + correct : correct;
    count_ += target.size(0);
  }

  Metrics result() const override {
    const auto count = static_cast<double>(count_);
    return {{"accuracy", 100.0 * static_cast<double>(correct_.item<int64_t>()) / count},
            {"loss", loss_.item<double>() / count}};
  }

 private:
  at::Tensor loss_;
  at::Tensor correct_;
  int64_t count_ = 0;
};

}  // namespace

at::Tensor ImageTask::loss(const at::Tensor& output, const at::Tensor& target) const {
  return cross_entropy(output, target, at::Reduction::Mean, label_smoothing_);
}

at::Tensor ImageTask::correct(const at::Tensor& output, const at::Tensor& target) const {
  return count_correct(output, target);
}

std::unique_ptr<Meter> ImageTask::meter() const { return std::make_unique<ImageMeter>(); }

}  // namespace hewn::train
