#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hewn/core/grid.h"

namespace hewn::kernels {

/// Per-block values of one column block, spread over the elements of a run. All columns of a column block
/// share them, so the loops over columns are plain vector loops whatever the block shape and the weight's
/// layout.
template <class T>
class Spread {
 public:
  explicit Spread(const WeightLayout& layout)
      : row_block_(static_cast<size_t>(layout.grid.rows)),
        values_(row_block_.size()),
        col_blocks_(layout.grid.col_blocks()) {
    for (size_t m = 0; m < row_block_.size(); ++m) {
      row_block_[m] = static_cast<int32_t>(layout.row_of(static_cast<int64_t>(m)) / layout.grid.block.rows);
    }
  }

  /// Reads `per_block` for a column block; null reads as 1 everywhere.
  template <class U>
  const T* load(const U* per_block, int64_t col_block) {
    for (size_t m = 0; m < values_.size(); ++m) {
      values_[m] =
          per_block == nullptr ? T(1) : static_cast<T>(per_block[row_block_[m] * col_blocks_ + col_block]);
    }
    return values_.data();
  }

  T* zero() {
    std::fill(values_.begin(), values_.end(), T(0));
    return values_.data();
  }

  /// Adds up what was gathered per element into one value per block.
  void store_sums(T* per_block, int64_t col_block, int64_t row_blocks) const {
    std::vector<double> sums(static_cast<size_t>(row_blocks), 0.0);
    for (size_t m = 0; m < values_.size(); ++m) sums[static_cast<size_t>(row_block_[m])] += values_[m];
    for (int64_t r = 0; r < row_blocks; ++r) {
      per_block[r * col_blocks_ + col_block] = static_cast<T>(sums[static_cast<size_t>(r)]);
    }
  }

 private:
  std::vector<int32_t> row_block_;
  std::vector<T> values_;
  int64_t col_blocks_;
};

/// Calls body(first element, behind the last, row block) for each active block of a column block, as
/// positions in a run. Only for layouts in which a block's rows lie side by side (taps == 1): there a dropped
/// block costs nothing.
template <class Body>
void each_active_run(const WeightLayout& layout, const uint8_t* active, int64_t col_block, const Body& body) {
  const Grid& grid = layout.grid;
  for (int64_t row_block = 0; row_block < grid.row_blocks(); ++row_block) {
    if (active[row_block * grid.col_blocks() + col_block] == 0) continue;
    const int64_t begin = row_block * grid.block.rows;
    body(begin, std::min(begin + grid.block.rows, grid.rows), row_block);
  }
}

}  // namespace hewn::kernels
