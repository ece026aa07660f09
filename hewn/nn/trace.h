#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hewn/kernels/packed.h"
#include "hewn/nn/model.h"
#include "hewn/prune/plan.h"

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

  /// How often the sample meets the layer's weight.
  int64_t positions() const {
    return convolution ? geometry.out_size(height, geometry.kernel_height) *
                             geometry.out_size(width, geometry.kernel_width)
                       : rows;
  }
};

/// Runs one sample of zeros through the model, as in evaluation, and writes down what reached each of its
/// Linear and Conv2d layers last. Layers that are not used, and convolutions that have no geometry_of, are
/// left out.
std::vector<LayerUse> trace_layers(Model& model, const std::vector<int64_t>& input);

/// The shapes of all prunable weights, with how often one sample meets each.
std::vector<prune::WeightShape> traced_shapes(Model& model, const std::vector<int64_t>& input);

}  // namespace hewn::nn
