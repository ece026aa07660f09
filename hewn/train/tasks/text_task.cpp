#include "hewn/train/tasks/text_task.h"

#include <ATen/TensorOperators.h>

#include <numbers>

namespace hewn::train {
namespace {

/// The metrics of classes, over all positions, and the loss in bits.
class TextMeter final : public Meter {
 public:
  void add(const at::Tensor& output, const at::Tensor& target) override {
    characters_->add(output.flatten(0, 1), target.flatten());
  }
  void combine(dist::Communicator& group) override { characters_->combine(group); }

  run::Metrics result() const override {
    run::Metrics out = characters_->result();
    out["bpc"] = out.at("loss") / std::numbers::ln2;
    return out;
  }

 private:
  std::unique_ptr<Meter> characters_ = ImageTask(0).meter();
};

}  // namespace

at::Tensor TextTask::loss(const at::Tensor& output, const at::Tensor& target) const {
  return ImageTask(label_smoothing_).loss(output.flatten(0, 1), target.flatten());
}

at::Tensor TextTask::correct(const at::Tensor& output, const at::Tensor& target) const {
  return (output.argmax(2) == target).sum();
}

at::Tensor TextTask::distil(const at::Tensor& output, const at::Tensor& teacher, double temperature) const {
  return ImageTask(0).distil(output.flatten(0, 1), teacher.flatten(0, 1), temperature);
}

std::unique_ptr<Meter> TextTask::meter() const { return std::make_unique<TextMeter>(); }

}  // namespace hewn::train
