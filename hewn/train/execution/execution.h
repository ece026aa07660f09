#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "hewn/nn/model.h"
#include "hewn/prune/execution.h"

namespace hewn::train {

/// What one training step of a layer costs, its optimiser left out.
struct LayerCost {
  std::string layer;
  double dense_ms = 0;
  double density = 0;    // at which the layer ends
  double sparse_ms = 0;  // on kept blocks, at that density
  double limit = 0;      // largest density at which kept blocks alone are faster; 0: never
};

struct Calibration {
  std::vector<LayerCost> layers;
  std::string note;  // where it was kept or why it was not
};

/// Times every pruned layer that can run sparse, on inputs of the size that `batch` gives it. Measured once
/// per machine, thread count and layer shape: results are kept in the user's cache folder, so that equal runs
/// make equal choices.
Calibration calibrate(nn::Model& model, const prune::Pruner& pruner, const at::Tensor& batch);

prune::DensityLimits limits_of(const Calibration& calibration);

/// One line for the user: which layers run sparse from when on, and what that saves.
std::string describe(const Calibration& calibration);

}  // namespace hewn::train
