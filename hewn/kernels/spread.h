#pragma once

#include <cstdint>
#include <vector>

#include "hewn/core/grid.h"

namespace hewn::kernels {

/// Per-block values of one column block, spread over the elements of a run. All columns of a column block share
/// them, so the loops over columns are plain vector loops whatever the block shape and the weight's layout.
template <class T>
class Spread {
 public:
  explicit Spread(const WeightLayout& layout)
      : row_block_(static_cast<size_t>(layout.grid.rows)), values_(row_block_.size()), col_blocks_(layout.grid.col_blocks()) {
    for (size_t m = 0; m < row_block_.size(); ++m) {
      row_block_[m] = static_cast<int32_t>(layout.row_of(static_cast<int64_t>(m)) / layout.grid.block.rows);
    }
  }

  /// Reads `per_block` for a column block; null reads as 1 everywhere.
  template <class U>
  const T* load(const U* per_block, int64_t col_block) {
    for (size_t m = 0; m < values_.size(); ++m) {
      values_[m] = per_block == nullptr ? T(1) : static_cast<T>(per_block[row_block_[m] * col_blocks_ + col_block]);
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

}  // namespace hewn::kernels
