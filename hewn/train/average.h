#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace hewn::train {

/// A moving average of weights, and of whatever else makes up a network. A phase changes what the weights
/// are, so it starts anew with each; the last phase's average becomes the network.
class WeightAverage {
 public:
  /// `decay` in (0, 1): the share that stays of the average at each step.
  WeightAverage(std::map<std::string, at::Tensor> live, double decay);

  /// Begins at the weights as they are.
  void restart();
  /// After each step.
  void update();
  /// Makes the averages the weights.
  void apply() const;

  /// For checkpoints; tensors are shared.
  const std::map<std::string, at::Tensor>& state() const { return averages_; }

 private:
  std::map<std::string, at::Tensor> live_;
  std::map<std::string, at::Tensor> averages_;
  double decay_;
};

}  // namespace hewn::train
