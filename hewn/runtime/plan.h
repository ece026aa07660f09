#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hewn/kernels/packed.h"
#include "hewn/runtime/model_file.h"

namespace hewn::runtime {

/// One activation, and the buffer that holds it while it is needed.
struct Value {
  kernels::ImageShape image;
  int32_t buffer = -1;
};

/// A weight in the order in which the kernels read it.
struct PlannedLayer {
  kernels::Packed weight;
  std::vector<float> bias;
};

/// One pass over a panel. Linear and conv2d take a following add and relu along; kAdd stands for any mixture
/// of add and relu that no product could take.
struct Step {
  Op op = Op::kAdd;
  int32_t in = -1;   // values
  int32_t add = -1;  // may be none
  int32_t out = -1;
  bool relu = false;
  int32_t layer = -1;
  kernels::ConvGeometry window;
  std::array<int64_t, 2> pad{};
};

/// Memory for one panel: so many rows of its columns. Where images with borders live, all of them have the
/// same shape: the border is zeroed once and nothing ever writes there.
struct Buffer {
  int64_t rows = 0;
  bool bordered = false;
};

/// A graph made ready to run.
struct Plan {
  Shape input;
  Shape output;
  std::vector<Value> values;
  std::vector<Step> steps;
  std::vector<Buffer> buffers;
  std::vector<PlannedLayer> layers;
  int32_t input_value = 0;
  int32_t output_value = 0;
  int64_t products = 0;  // multiply-adds of one sample, kept blocks only

  /// Of all buffers, for one sample.
  int64_t activation_floats() const;
};

/// Throws Error where the model goes beyond `limits`. Weights are taken from `model` and repacked.
Plan make_plan(ModelData model, const Limits& limits);

}  // namespace hewn::runtime
