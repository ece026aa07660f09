#pragma once

#include <cstdint>

#include "hewn/kernels/bsr.h"

namespace hewn::kernels::reference {

/// Calls body(position in memory, block) for every element of the column blocks [begin, end).
template <class Body>
void each_element(const WeightLayout& layout, int64_t begin, int64_t end, const Body& body) {
  const Grid& grid = layout.grid;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    for (int64_t column = grid.first_col(col_block); column < grid.last_col(col_block); ++column) {
      for (int64_t offset = 0; offset < grid.rows; ++offset) {
        body(column * grid.rows + offset, grid.block_of(layout.row_of(offset), column));
      }
    }
  }
}

/// Where an element of a kept block lies.
struct KeptElement {
  int64_t value = 0;    // in the kept blocks' values
  int64_t element = 0;  // in the weight's memory
  int64_t block = 0;
  bool inside = true;  // false: padding at a ragged edge, which the weight does not have
};

/// Calls body(KeptElement) for the kept blocks of the output blocks [begin, end).
template <class Body>
void each_kept_element(const BsrPattern& pattern, const WeightLayout& layout, int64_t begin, int64_t end,
                       const Body& body) {
  const Grid& grid = layout.grid;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const auto out = static_cast<size_t>(col_block);
    for (int64_t i = pattern.begin[out]; i < pattern.begin[out + 1]; ++i) {
      const int64_t row_block = pattern.row[static_cast<size_t>(i)];
      for (int64_t c = 0; c < grid.block.cols; ++c) {
        for (int64_t r = 0; r < grid.block.rows; ++r) {
          const int64_t row = row_block * grid.block.rows + r;
          const int64_t column = grid.first_col(col_block) + c;
          KeptElement at;
          at.value = (i * grid.block.cols + c) * grid.block.rows + r;
          at.block = row_block * grid.col_blocks() + col_block;
          at.inside = row < grid.rows && column < grid.last_col(col_block);
          if (at.inside) at.element = column * grid.rows + layout.offset_of(row);
          body(at);
        }
      }
    }
  }
}

}  // namespace hewn::kernels::reference
