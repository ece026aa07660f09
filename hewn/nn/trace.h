#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hewn/kernels/packed.h"
#include "hewn/nn/model.h"

namespace hewn::nn {

/// What one sample asks of a prunable layer.
struct LayerUse {
  std::string name;
  bool convolution = false;
  int64_t in = 0;      // features or channels
  int64_t out = 0;     // features or channels
  int64_t rows = 1;    // of a Linear layer: vectors per sample
  int64_t height = 0;  // of a convolution's input
  int64_t width = 0;
  kernels::ConvGeometry geometry;
};

/// Runs one sample of zeros through the model, as in evaluation, and writes down what reaches each prunable
/// layer. Layers that are not used, and convolutions whose stride, padding or dilation differs between the
/// two directions, are left out; one that is used twice counts once.
std::vector<LayerUse> trace_layers(Model& model, const std::vector<int64_t>& input);

}  // namespace hewn::nn
