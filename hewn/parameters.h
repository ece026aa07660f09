#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "hewn/prune/pruner.h"

namespace hewn {

class Pruner;

/// One trained tensor with its rates.
struct Parameter {
  std::string name;
  at::Tensor tensor;
  double lr_factor = 1;
  double weight_decay = 0;
  double l1_decay = 0;
  /// Adam: its elements are measured against the mean of their second moments, so that an element with a
  /// large gradient moves further than one with a small gradient.
  bool shared_moment = false;
  /// The pruned layer whose weight this is, or null. Its dropped blocks do not change, nor does their state.
  const prune::Pruner::Layer* layer = nullptr;
};

/// All that is trained: the module's parameters, then logits and masks, with decay and rate factors. Biases
/// and normalisation layers do not decay unless `decay_all`; embedding tables that are updated row by row
/// never do.
std::vector<Parameter> parameters_of(Pruner& pruner, double weight_decay, bool decay_all);

}  // namespace hewn
