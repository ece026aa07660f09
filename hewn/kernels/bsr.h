#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hewn/core/grid.h"

namespace hewn::kernels {

/// Which blocks of a weight are kept, in the order of torch's BSR layout of the weight as out x in: by output
/// block (a column block of the grid), then by input block.
struct BsrPattern {
  Grid grid;
  std::vector<int32_t> begin;  // col_blocks + 1 entries: where each output block starts in `row`
  std::vector<int32_t> row;    // the row block of each kept block

  int64_t kept() const { return static_cast<int64_t>(row.size()); }
  /// Floats of one block's values: blocks at a ragged edge are stored full, padded with zeros.
  int64_t block_floats() const { return grid.block.rows * grid.block.cols; }
  int64_t value_floats() const { return kept() * block_floats(); }
};

/// What a block covers of its weight; less than a full block at a ragged edge.
struct BlockExtent {
  int64_t row = 0;
  int64_t col = 0;
  int64_t rows = 0;
  int64_t cols = 0;
};

/// Calls body(values of the kept block, its number in the grid, its extent) for the output blocks [begin,
/// end).
template <class Value, class Body>
void each_block(const BsrPattern& pattern, Value* values, int64_t begin, int64_t end, const Body& body) {
  const Grid& grid = pattern.grid;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const int64_t col = grid.first_col(col_block);
    const int64_t cols = grid.last_col(col_block) - col;
    for (int64_t i = pattern.begin[static_cast<size_t>(col_block)];
         i < pattern.begin[static_cast<size_t>(col_block) + 1]; ++i) {
      const int64_t row_block = pattern.row[static_cast<size_t>(i)];
      const int64_t row = row_block * grid.block.rows;
      body(values + i * pattern.block_floats(), row_block * grid.col_blocks() + col_block,
           BlockExtent{row, col, std::min(grid.block.rows, grid.rows - row), cols});
    }
  }
}

/// The pattern of a support: one byte per block of the grid, not 0 where the block is kept; null: all kept.
BsrPattern make_pattern(const Grid& grid, const uint8_t* support);

/// Copies the kept blocks out of a weight in memory order `layout`, each as [output][input] (block.cols x
/// block.rows), multiplied by the block's `gate` where that is not null (one value per block of the grid).
/// Handles the output blocks [begin, end).
void gather_blocks(const BsrPattern& pattern, const WeightLayout& layout, const float* weight,
                   const float* gate, float* values, int64_t begin, int64_t end);

/// The reverse: writes the kept blocks into a weight; other elements stay as they are.
void scatter_blocks(const BsrPattern& pattern, const WeightLayout& layout, const float* values, float* weight,
                    int64_t begin, int64_t end);

/// From the gradient of the gated blocks to those of its two factors, in place: grad_gate (one per block of
/// the grid, only kept ones are written; may be null) = <grad, weight>, then grad *= gate (null: 1).
void gate_backward(const BsrPattern& pattern, const WeightLayout& layout, const float* weight,
                   const float* gate, float* grad, float* grad_gate, int64_t begin, int64_t end);

}  // namespace hewn::kernels
