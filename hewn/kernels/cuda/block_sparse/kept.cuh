#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "hewn/kernels/cuda/block_sparse/block_sparse.h"
#include "hewn/kernels/cuda/launch.cuh"

/// What of a weight is kept, and what it holds there, in a product's own order of outputs and inputs.
namespace hewn::kernels::cuda::block_sparse {

/// Block of the grid that output o and input i of the product lie in.
__device__ inline unsigned block_at(const Layout& layout, bool transposed, unsigned o, unsigned i) {
  const unsigned row = transposed ? o : i;
  const unsigned col = transposed ? i : o;
  return row / layout.block_rows * layout.col_blocks + layout.col_block_of(col);
}

struct Range {
  unsigned first, last;  // [first, last)
};

__device__ inline bool any_kept(const Layout& layout, const uint8_t* support, Range rows, Range cols) {
  for (unsigned r = rows.first / layout.block_rows; r <= (rows.last - 1) / layout.block_rows; ++r) {
    for (unsigned c = layout.col_block_of(cols.first); c <= layout.col_block_of(cols.last - 1); ++c) {
      if (support[r * layout.col_blocks + c] != 0) return true;
    }
  }
  return false;
}

/// A product's outputs x inputs.
__device__ inline bool any_kept(const Layout& layout, bool transposed, const uint8_t* support, Range outputs,
                                Range inputs) {
  return transposed ? any_kept(layout, support, outputs, inputs) : any_kept(layout, support, inputs, outputs);
}

__device__ inline unsigned tf32_bits(float value) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}
__device__ inline void store(float value, float& out) { out = __uint_as_float(tf32_bits(value)); }
__device__ inline void store(float value, __nv_bfloat16& out) { out = __float2bfloat16(value); }
__device__ inline void store(float value, __half& out) { out = __float2half(value); }

/// The value of a product's weight at output o and input i; zero outside of the kept blocks.
template <class S>
__device__ float value_at(const Layout& layout, bool transposed, const DenseWeight& w, unsigned o,
                          unsigned i) {
  if ((transposed ? o : i) >= layout.rows || (transposed ? i : o) >= layout.cols) return 0.0f;
  const unsigned block = block_at(layout, transposed, o, i);
  if (w.support[block] == 0) return 0.0f;
  const unsigned at = transposed ? i * layout.rows + o : o * layout.rows + i;
  const float value = static_cast<float>(static_cast<const S*>(w.values)[at]);
  return w.gate == nullptr ? value : value * w.gate[block];
}

}  // namespace hewn::kernels::cuda::block_sparse
