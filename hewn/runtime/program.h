#pragma once

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
struct PackedLayer {
  kernels::Packed weight;
  std::vector<float> bias;
};

/// An embedding's rows, as 32-bit floats or as bf16 numbers.
struct PackedTable {
  int64_t width = 0;
  std::vector<int64_t> first;  // row of each field's value 0; behind the last field the number of rows
  std::vector<float> values;   // one of the two is empty
  std::vector<uint16_t> halves;

  /// Inputs come from outside: -1 for what is not the number of one of the field's values.
  int64_t row(int64_t field, float value) const {
    const int64_t begin = first[static_cast<size_t>(field)];
    const auto size = static_cast<float>(first[static_cast<size_t>(field) + 1] - begin);
    if (!(value >= 0 && value < size)) return -1;
    const auto number = static_cast<int64_t>(value);
    return static_cast<float>(number) == value ? begin + number : -1;
  }
};

/// One pass over a panel: a node, and the add and relu behind it that it takes along.
struct Instruction {
  Node node;
  int32_t in = -1;   // values
  int32_t add = -1;  // taken along, or the node's second input; may be none
  int32_t out = -1;
  bool relu = false;  // taken along
  int32_t layer = -1;
  int32_t table = -1;
};

/// Memory for one panel: so many rows of its columns. Where images with borders live, all of them have the
/// same shape: the border is zeroed once and nothing ever writes there.
struct Buffer {
  int64_t rows = 0;
  bool bordered = false;
};

/// A graph made ready to run.
struct Program {
  Shape input;
  Shape output;
  std::vector<Value> values;
  std::vector<Instruction> instructions;
  std::vector<Buffer> buffers;
  std::vector<PackedLayer> layers;
  std::vector<PackedTable> tables;
  int32_t input_value = 0;
  int32_t output_value = 0;
  int64_t products = 0;  // multiply-adds of one sample, kept blocks only

  /// Of all buffers, for one sample.
  int64_t activation_floats() const;
};

/// Throws Error where the model goes beyond `limits`. Weights are taken from `model` and repacked.
Program make_program(ModelData model, const Limits& limits);

}  // namespace hewn::runtime
