#pragma once

#include <cuda_runtime.h>

#include "hewn/core/error.h"

namespace hewn::kernels::cuda {

inline void check_launch(const char* what) {
  const cudaError_t problem = cudaGetLastError();
  if (problem != cudaSuccess) throw Error(str("[", what, "] CUDA: ", cudaGetErrorString(problem)));
}

/// WeightLayout as the device sees it.
struct Layout {
  int64_t rows, cols, block_rows, block_cols, row_blocks, col_blocks, taps, channels;

  explicit Layout(const WeightLayout& layout)
      : rows(layout.grid.rows),
        cols(layout.grid.cols),
        block_rows(layout.grid.block.rows),
        block_cols(layout.grid.block.cols),
        row_blocks(layout.grid.row_blocks()),
        col_blocks(layout.grid.col_blocks()),
        taps(layout.taps),
        channels(layout.grid.rows / layout.taps) {}

  /// Place in a run of matrix row `row`: the inverse of WeightLayout::row_of.
  __device__ int64_t offset_of(int64_t row) const {
    return taps == 1 ? row : (row % channels) * taps + row / channels;
  }
  __device__ int64_t block_of(int64_t element) const {
    const int64_t offset = element % rows;
    const int64_t row = taps == 1 ? offset : (offset % taps) * channels + offset / taps;
    return row / block_rows * col_blocks + element / rows / block_cols;
  }
};

}  // namespace hewn::kernels::cuda
