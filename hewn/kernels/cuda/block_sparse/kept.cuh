#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "hewn/kernels/cuda/block_sparse/block_sparse.h"
#include "hewn/kernels/cuda/launch.cuh"

/// What of a weight is kept, and what it holds there, in a product's own order of outputs and inputs.
namespace hewn::kernels::cuda::block_sparse {

/// A weight as a product sees it. An input gradient of a convolution reads the taps from the last to the
/// first; else there is one.
struct View {
  Layout layout;
  bool transposed;
  unsigned taps, outputs, inputs;

  explicit View(const Product& product)
      : layout(WeightLayout{product.grid, 1}),
        transposed(product.transposed),
        taps(static_cast<unsigned>(product.transposed ? product.taps : 1)),
        outputs(static_cast<unsigned>(product.outputs())),
        inputs(static_cast<unsigned>(product.inputs())) {}

  /// Row and column of the grid where output o meets input i.
  __device__ unsigned row(unsigned o, unsigned i) const {
    if (!transposed) return i;
    return taps == 1 ? o : (taps - 1 - i / layout.cols) * outputs + o;
  }
  __device__ unsigned col(unsigned o, unsigned i) const {
    if (!transposed) return o;
    return taps == 1 ? i : i % layout.cols;
  }
};

struct Range {
  unsigned first, last;  // [first, last)
};

/// Whether a kept block has some of these; the inputs belong to one tap.
__device__ inline bool any_kept(const View& view, const uint8_t* support, Range outputs, Range inputs) {
  const Layout& layout = view.layout;
  const unsigned first_row = view.row(outputs.first, inputs.first) / layout.block_rows;
  const unsigned last_row = view.row(outputs.last - 1, inputs.last - 1) / layout.block_rows;
  const unsigned first_col = layout.col_block_of(view.col(outputs.first, inputs.first));
  const unsigned last_col = layout.col_block_of(view.col(outputs.last - 1, inputs.last - 1));
  for (unsigned r = first_row; r <= last_row; ++r) {
    for (unsigned c = first_col; c <= last_col; ++c) {
      if (support[r * layout.col_blocks + c] != 0) return true;
    }
  }
  return false;
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
__device__ float value_at(const View& view, const DenseWeight& w, unsigned o, unsigned i) {
  if (o >= view.outputs || i >= view.inputs) return 0.0f;
  const unsigned row = view.row(o, i);
  const unsigned col = view.col(o, i);
  const unsigned block =
      row / view.layout.block_rows * view.layout.col_blocks + view.layout.col_block_of(col);
  if (w.support[block] == 0) return 0.0f;
  const auto value = static_cast<float>(static_cast<const S*>(w.values)[col * view.layout.rows + row]);
  return w.gate == nullptr ? value : value * w.gate[block];
}

}  // namespace hewn::kernels::cuda::block_sparse
