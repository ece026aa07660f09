#pragma once

#include <cuda_runtime.h>

#include "hewn/core/error.h"
#include "hewn/core/grid.h"

namespace hewn::kernels::cuda {

inline void check_launch(const char* what) {
  const cudaError_t problem = cudaGetLastError();
  if (problem != cudaSuccess) throw Error(str("[", what, "] CUDA: ", cudaGetErrorString(problem)));
}

/// What one launch works on, as arguments of the kernel: each item has `begin`, the first of its CUDA blocks.
template <class Item, int kMost>
struct Batch {
  Item at[kMost];
  int count = 0;
  unsigned blocks = 0;

  /// Adds an item that takes that many CUDA blocks.
  void add(Item item, unsigned of_it) {
    item.begin = blocks;
    at[count++] = item;
    blocks += of_it;
  }
  bool full() const { return count == kMost; }

  __device__ const Item& of(unsigned block) const {
    int low = 0;
    for (int high = count; high - low > 1;) {
      const int middle = (low + high) / 2;
      (at[middle].begin <= block ? low : high) = middle;
    }
    return at[low];
  }
};

inline cudaStream_t as_stream(void* stream) { return static_cast<cudaStream_t>(stream); }

/// WeightLayout as the device sees it. No weight has 2^32 elements, and dividing 64 bits is slow.
struct Layout {
  unsigned rows, cols, block_rows, block_cols, row_blocks, col_blocks, taps, channels;
  unsigned groups, group_cols, group_blocks;

  Layout() = default;
  explicit Layout(const WeightLayout& layout)
      : rows(small(layout.grid.rows)),
        cols(small(layout.grid.cols)),
        block_rows(small(layout.grid.block.rows)),
        block_cols(small(layout.grid.block.cols)),
        row_blocks(small(layout.grid.row_blocks())),
        col_blocks(small(layout.grid.col_blocks())),
        taps(small(layout.taps)),
        channels(small(layout.grid.rows / layout.taps)),
        groups(small(layout.grid.groups)),
        group_cols(small(layout.grid.group_cols())),
        group_blocks(small(layout.grid.group_blocks())) {
    if (layout.grid.elements() > UINT32_MAX) {
      throw Error(str("a weight of ", layout.grid.rows, " x ", layout.grid.cols,
                      " elements: the CUDA kernels take fewer than 2^32"));
    }
  }

  static unsigned small(int64_t value) { return static_cast<unsigned>(value); }

  /// Position in a run of matrix row `row`: the inverse of WeightLayout::row_of.
  __device__ unsigned offset_of(unsigned row) const {
    return taps == 1 ? row : (row % channels) * taps + row / channels;
  }
  __device__ unsigned col_block_of(unsigned col) const {
    if (groups == 1) return col / block_cols;
    return col / group_cols * group_blocks + col % group_cols / block_cols;
  }
  /// The columns [first, last) of a column block.
  __device__ unsigned first_col(unsigned col_block) const {
    if (groups == 1) return col_block * block_cols;
    return col_block / group_blocks * group_cols + col_block % group_blocks * block_cols;
  }
  __device__ unsigned last_col(unsigned col_block) const {
    const unsigned group_end = groups == 1 ? cols : (col_block / group_blocks + 1) * group_cols;
    return min(first_col(col_block) + block_cols, group_end);
  }
  __device__ unsigned block_of(unsigned element) const {
    const unsigned offset = element % rows;
    const unsigned row = taps == 1 ? offset : (offset % taps) * channels + offset / taps;
    return row / block_rows * col_blocks + col_block_of(element / rows);
  }
};

}  // namespace hewn::kernels::cuda
