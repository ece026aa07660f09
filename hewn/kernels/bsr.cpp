#include "hewn/kernels/bsr.h"

#include <algorithm>
#include <cassert>

namespace hewn::kernels {
namespace {

/// Calls body(weight element, value element) for every element of a block.
template <class Weight, class Value, class Body>
void each_element(const WeightLayout& layout, Weight* weight, Value* values, const BlockExtent& block,
                  const Body& body) {
  const int64_t row = block.row;
  const int64_t rows = block.rows;
  for (int64_t c = 0; c < block.cols; ++c) {
    Weight* run = weight + (block.col + c) * layout.grid.rows;
    Value* value = values + c * layout.grid.block.rows;
    if (layout.taps == 1) {
      for (int64_t r = 0; r < rows; ++r) body(run[row + r], value[r]);
    } else {
      for (int64_t r = 0; r < rows; ++r) body(run[layout.offset_of(row + r)], value[r]);
    }
  }
}

}  // namespace

BsrPattern make_pattern(const Grid& grid, const uint8_t* support) {
  BsrPattern pattern{grid, {0}, {}};
  for (int64_t col_block = 0; col_block < grid.col_blocks(); ++col_block) {
    for (int64_t row_block = 0; row_block < grid.row_blocks(); ++row_block) {
      if (support != nullptr && support[row_block * grid.col_blocks() + col_block] == 0) continue;
      pattern.row.push_back(static_cast<int32_t>(row_block));
    }
    pattern.begin.push_back(static_cast<int32_t>(pattern.row.size()));
  }
  return pattern;
}

void gather_blocks(const BsrPattern& pattern, const WeightLayout& layout, const float* weight,
                   const float* gate, float* values, int64_t begin, int64_t end) {
  assert(pattern.grid == layout.grid);
  each_block(pattern, values, begin, end, [&](float* block, int64_t index, const BlockExtent& extent) {
    const float scale = gate == nullptr ? 1.0F : gate[index];
    if (extent.rows * extent.cols < pattern.block_floats()) std::fill_n(block, pattern.block_floats(), 0.0F);
    each_element(layout, weight, block, extent, [scale](float w, float& value) { value = scale * w; });
  });
}

void scatter_blocks(const BsrPattern& pattern, const WeightLayout& layout, const float* values, float* weight,
                    int64_t begin, int64_t end) {
  assert(pattern.grid == layout.grid);
  each_block(pattern, values, begin, end, [&](const float* block, int64_t, const BlockExtent& extent) {
    each_element(layout, weight, block, extent, [](float& w, float value) { w = value; });
  });
}

void gate_backward(const BsrPattern& pattern, const WeightLayout& layout, const float* weight,
                   const float* gate, float* grad, float* grad_gate, int64_t begin, int64_t end) {
  assert(pattern.grid == layout.grid);
  each_block(pattern, grad, begin, end, [&](float* block, int64_t index, const BlockExtent& extent) {
    const float scale = gate == nullptr ? 1.0F : gate[index];
    double sum = 0;
    each_element(layout, weight, block, extent, [&](float w, float& g) {
      sum += static_cast<double>(w) * g;
      g *= scale;
    });
    if (grad_gate != nullptr) grad_gate[index] = static_cast<float>(sum);
  });
}

}  // namespace hewn::kernels
