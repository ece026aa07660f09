#include "hewn/train/average.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

namespace hewn::train {

WeightAverage::WeightAverage(std::map<std::string, at::Tensor> live, double decay)
    : live_(std::move(live)), decay_(decay) {
  for (const auto& [name, tensor] : live_) averages_[name] = tensor.detach().clone();
}

void WeightAverage::restart() {
  const at::NoGradGuard no_grad;
  for (auto& [name, average] : averages_) average.copy_(live_.at(name));
}

void WeightAverage::update() {
  const at::NoGradGuard no_grad;
  for (auto& [name, average] : averages_) {
    const at::Tensor& now = live_.at(name);
    // Counters have no average.
    if (average.is_floating_point()) {
      average.lerp_(now, 1 - decay_);
    } else {
      average.copy_(now);
    }
  }
}

void WeightAverage::apply() const {
  const at::NoGradGuard no_grad;
  for (const auto& [name, average] : averages_) {
    at::Tensor now = live_.at(name);
    now.copy_(average);
  }
}

}  // namespace hewn::train
