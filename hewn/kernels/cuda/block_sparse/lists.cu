// What a support means for a product: masks of the pieces that are needed, the chunks to load, and the kept
// values in the order of reading.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "hewn/kernels/cuda/block_sparse/tiling.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda::block_sparse {
namespace {

/// Block of the grid that output o and input i of the product lie in.
__device__ unsigned block_at(const Layout& layout, bool transposed, unsigned o, unsigned i) {
  const unsigned row = transposed ? o : i;
  const unsigned col = transposed ? i : o;
  return row / layout.block_rows * layout.col_blocks + layout.col_block_of(col);
}

struct Range {
  unsigned first, last;  // [first, last)
};

__device__ bool any_kept(const Layout& layout, const uint8_t* support, Range rows, Range cols) {
  for (unsigned r = rows.first / layout.block_rows; r <= (rows.last - 1) / layout.block_rows; ++r) {
    for (unsigned c = layout.col_block_of(cols.first); c <= layout.col_block_of(cols.last - 1); ++c) {
      if (support[r * layout.col_blocks + c] != 0) return true;
    }
  }
  return false;
}

/// A lane for each bit of the mask of (wide tile, chunk).
__global__ void mask_kernel(Tiling tiling, Layout layout, bool transposed, const uint8_t* support,
                            unsigned* masks) {
  const unsigned wide = blockIdx.x / tiling.chunks;
  const unsigned chunk = blockIdx.x % tiling.chunks;
  const unsigned o = wide * tiling.wide + threadIdx.x / kSlices * tiling.tile;
  const unsigned slice = threadIdx.x % kSlices / tiling.granule * tiling.granule;
  const unsigned i = chunk * tiling.chunk_inputs() + slice * tiling.slice_inputs();
  bool kept = false;
  if (threadIdx.x / kSlices < tiling.wide / tiling.tile && o < tiling.outputs && i < tiling.inputs) {
    const Range outs{o, min(o + tiling.tile, tiling.outputs)};
    const Range ins{i, min(i + tiling.granule * tiling.slice_inputs(), tiling.inputs)};
    kept = any_kept(layout, support, transposed ? outs : ins, transposed ? ins : outs);
  }
  const unsigned mask = __ballot_sync(~0u, kept);
  if (threadIdx.x == 0) masks[blockIdx.x] = mask;
}

/// A warp for each group of wide tiles.
__global__ void list_kernel(Tiling tiling, Lists lists) {
  const unsigned group = blockIdx.x;
  int count = 0;
  for (unsigned first = 0; first < tiling.chunks; first += 32) {
    const unsigned chunk = first + threadIdx.x;
    bool needed = false;
    for (unsigned w = 0; w < tiling.shared && chunk < tiling.chunks; ++w) {
      needed |= lists.masks[(group * tiling.shared + w) * tiling.chunks + chunk] != 0;
    }
    const unsigned bits = __ballot_sync(~0u, needed);
    const int before = __popc(bits & ((1u << threadIdx.x) - 1));
    if (needed) lists.listed[group * tiling.chunks + count + before] = static_cast<int>(chunk);
    count += __popc(bits);
  }
  if (threadIdx.x == 0) lists.counts[group] = count;
}

__device__ unsigned tf32_bits(float value) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}
__device__ void store(float value, float& out) { out = __uint_as_float(tf32_bits(value)); }
__device__ void store(float value, __nv_bfloat16& out) { out = __float2bfloat16(value); }
__device__ void store(float value, __half& out) { out = __float2half(value); }

/// The value of a product's weight at output o and input i; zero outside of the kept blocks.
template <class S>
__device__ float value_at(const Tiling& tiling, const Layout& layout, bool transposed, const DenseWeight& w,
                          unsigned o, unsigned i) {
  if (o >= tiling.outputs || i >= tiling.inputs) return 0.0f;
  const unsigned block = block_at(layout, transposed, o, i);
  if (w.support[block] == 0) return 0.0f;
  const unsigned at = transposed ? i * layout.rows + o : o * layout.rows + i;
  const float value = static_cast<float>(static_cast<const S*>(w.values)[at]);
  return w.gate == nullptr ? value : value * w.gate[block];
}

/// A thread block for each (wide tile, chunk). A piece lies as columns of 16 bytes: all outputs' first half
/// slice, then all outputs' second.
template <class T, class S>
__global__ void pack_kernel(Tiling tiling, Layout layout, bool transposed, DenseWeight weight,
                            const unsigned* masks, T* values) {
  constexpr unsigned kHalf = 16 / sizeof(T);
  const unsigned mask = masks[blockIdx.x];
  const unsigned wide = blockIdx.x / tiling.chunks;
  const unsigned chunk = blockIdx.x % tiling.chunks;
  const unsigned columns = 2 * tiling.tile;
  const unsigned total = static_cast<unsigned>(__popc(mask)) * columns;
  uint4* out =
      reinterpret_cast<uint4*>(values) + static_cast<size_t>(blockIdx.x) * (tiling.place_bytes() / 16);
  __shared__ uint8_t bit_of[32];
  if (threadIdx.x < 32 && (mask >> threadIdx.x & 1) != 0) {
    bit_of[__popc(mask & ((1u << threadIdx.x) - 1))] = static_cast<uint8_t>(threadIdx.x);
  }
  __syncthreads();
  for (unsigned u = threadIdx.x; u < total; u += blockDim.x) {
    const unsigned bit = bit_of[u / columns];
    const unsigned column = u % columns;
    const unsigned o = wide * tiling.wide + bit / kSlices * tiling.tile + column % tiling.tile;
    const unsigned i =
        chunk * tiling.chunk_inputs() + bit % kSlices * tiling.slice_inputs() + column / tiling.tile * kHalf;
    union {
      T typed[kHalf];
      uint4 whole;
    } sixteen = {};
#pragma unroll
    for (unsigned e = 0; e < kHalf; ++e) {
      store(value_at<S>(tiling, layout, transposed, weight, o, i + e), sixteen.typed[e]);
    }
    out[u] = sixteen.whole;
  }
}

template <class T>
void pack_as(const Product& product, const DenseWeight& weight, const void* lists, void* values,
             void* stream) {
  const Tiling tiling(product);
  const Layout layout(WeightLayout{product.grid, 1});
  const Lists found(const_cast<void*>(lists), tiling);
  if (weight.source == Source::kFloat) {
    pack_kernel<T, float><<<tiling.places(), 128, 0, as_stream(stream)>>>(
        tiling, layout, product.transposed, weight, found.masks, static_cast<T*>(values));
  } else {
    pack_kernel<T, T><<<tiling.places(), 128, 0, as_stream(stream)>>>(
        tiling, layout, product.transposed, weight, found.masks, static_cast<T*>(values));
  }
  check_launch("block_sparse::pack");
}

}  // namespace

void find_tiles(const Product& product, const uint8_t* support, void* lists, void* stream) {
  const Tiling tiling(product);
  const Lists out(lists, tiling);
  mask_kernel<<<tiling.places(), 32, 0, as_stream(stream)>>>(tiling, Layout(WeightLayout{product.grid, 1}),
                                                             product.transposed, support, out.masks);
  list_kernel<<<tiling.groups(), 32, 0, as_stream(stream)>>>(tiling, out);
  check_launch("block_sparse::find_tiles");
}

void pack(const Product& product, const DenseWeight& weight, const void* lists, void* values, void* stream) {
  if (product.type == Operand::kBf16) return pack_as<__nv_bfloat16>(product, weight, lists, values, stream);
  if (product.type == Operand::kHalf) return pack_as<__half>(product, weight, lists, values, stream);
  pack_as<float>(product, weight, lists, values, stream);
}

}  // namespace hewn::kernels::cuda::block_sparse
