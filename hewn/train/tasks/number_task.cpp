#include "hewn/train/tasks/number_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

namespace hewn::train {
namespace {

class NumberMeter final : public Meter {
 public:
  explicit NumberMeter(double target_scale) : target_scale_(target_scale) {}

  void add(const at::Tensor& output, const at::Tensor& target) override {
    const at::Tensor seen = target.to(at::kDouble);
    const at::Tensor errors = output.detach().flatten().to(at::kDouble) - seen;
    const at::Tensor count = at::full({}, target.size(0), seen.options());
    const at::Tensor batch = at::stack({errors.square().sum(), seen.sum(), seen.square().sum(), count});
    sums_ = sums_.defined() ? sums_ + batch : batch;
  }

  void combine(dist::Communicator& group) override {
    if (!sums_.defined()) sums_ = at::zeros({4}, at::TensorOptions(at::kDouble).device(group.device()));
    group.sum(sums_);
  }

  run::Metrics result() const override {
    const at::Tensor sums = sums_.cpu();
    const double* values = sums.data_ptr<double>();
    const double error = values[0] / values[3];
    const double mean = values[1] / values[3];
    const double variance = values[2] / values[3] - mean * mean;
    return {{"loss", error},
            {"r2", variance > 0 ? 1 - error / variance : std::numeric_limits<double>::quiet_NaN()},
            {"rmse", target_scale_ * std::sqrt(error)}};
  }

 private:
  double target_scale_;
  at::Tensor sums_;  // squares of errors; targets, their squares, their count
};

}  // namespace

at::Tensor NumberTask::loss(const at::Tensor& output, const at::Tensor& target) const {
  // Not in bf16, where the network may compute: differences of near numbers would be lost.
  return at::mse_loss(output.flatten().to(at::kFloat), target);
}

at::Tensor NumberTask::distil(const at::Tensor& output, const at::Tensor& teacher,
                              double /*temperature*/) const {
  return loss(output, teacher.flatten().to(at::kFloat));
}

at::Tensor NumberTask::correct(const at::Tensor& output, const at::Tensor& /*target*/) const {
  return at::zeros({}, output.options().dtype(at::kLong));
}

std::unique_ptr<Meter> NumberTask::meter() const { return std::make_unique<NumberMeter>(target_scale_); }

}  // namespace hewn::train
