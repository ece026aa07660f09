// What a support means for a product: masks of the pieces that are needed, the chunks to load, and the kept
// values in the order of reading.
#include "hewn/kernels/cuda/block_sparse/kept.cuh"
#include "hewn/kernels/cuda/block_sparse/multiply.h"
#include "hewn/kernels/cuda/block_sparse/tiling.h"

namespace hewn::kernels::cuda::block_sparse {
namespace {

/// A lane for each bit of the mask of (wide tile, chunk).
__global__ void mask_kernel(Tiling tiling, View view, const uint8_t* support, unsigned* masks) {
  const unsigned wide = blockIdx.x / tiling.chunks;
  const unsigned chunk = blockIdx.x % tiling.chunks;
  const unsigned o = wide * tiling.wide + threadIdx.x / tiling.slices() * tiling.tile;
  const unsigned slice = threadIdx.x % tiling.slices() / tiling.granule * tiling.granule;
  const unsigned i = chunk * tiling.chunk_inputs() + slice * tiling.slice_inputs();
  bool kept = false;
  if (threadIdx.x / tiling.slices() < tiling.wide / tiling.tile && o < tiling.outputs && i < tiling.inputs) {
    const Range outs{o, min(o + tiling.tile, tiling.outputs)};
    const Range ins{i, min(i + tiling.granule * tiling.slice_inputs(), tiling.inputs)};
    kept = any_kept(view, support, outs, ins);
  }
  const unsigned mask = __ballot_sync(~0u, kept);
  if (threadIdx.x == 0) masks[blockIdx.x] = mask;
}

/// A warp for each wide tile.
__global__ void list_kernel(Tiling tiling, Lists lists) {
  const unsigned wide = blockIdx.x;
  int count = 0;
  for (unsigned first = 0; first < tiling.chunks; first += 32) {
    const unsigned chunk = first + threadIdx.x;
    const bool needed = chunk < tiling.chunks && lists.masks[wide * tiling.chunks + chunk] != 0;
    const unsigned bits = __ballot_sync(~0u, needed);
    const int before = __popc(bits & ((1u << threadIdx.x) - 1));
    if (needed) lists.listed[wide * tiling.chunks + count + before] = static_cast<int>(chunk);
    count += __popc(bits);
  }
  if (threadIdx.x == 0) lists.counts[wide] = count;
  if (blockIdx.x == 0 && threadIdx.x == 0) *lists.tasks = {0, 0};
}

/// A thread block for each (wide tile, chunk). A piece lies as columns of 16 bytes: all outputs' first half
/// slice, then all outputs' second.
template <class T, class S>
__global__ void pack_kernel(Tiling tiling, View view, DenseWeight weight, const unsigned* masks, T* values) {
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
    const unsigned o = wide * tiling.wide + bit / tiling.slices() * tiling.tile + column % tiling.tile;
    const unsigned i = chunk * tiling.chunk_inputs() + bit % tiling.slices() * tiling.slice_inputs() +
                       column / tiling.tile * kHalf;
    union {
      T typed[kHalf];
      uint4 whole;
    } sixteen = {};
#pragma unroll
    for (unsigned e = 0; e < kHalf; ++e) {
      store(value_at<S>(view, weight, o, i + e), sixteen.typed[e]);
    }
    out[u] = sixteen.whole;
  }
}

template <class T>
void pack_as(const Product& product, const DenseWeight& weight, const void* lists, void* values,
             void* stream) {
  const Tiling tiling(product);
  const Lists found(const_cast<void*>(lists), tiling);
  if (weight.source == Source::kFloat) {
    pack_kernel<T, float><<<tiling.places(), 128, 0, as_stream(stream)>>>(
        tiling, View(product), weight, found.masks, static_cast<T*>(values));
  } else {
    pack_kernel<T, T><<<tiling.places(), 128, 0, as_stream(stream)>>>(tiling, View(product), weight,
                                                                      found.masks, static_cast<T*>(values));
  }
  check_launch("block_sparse::pack");
}

}  // namespace

void find_tiles(const Product& product, const uint8_t* support, void* lists, void* stream) {
  if (product.way == Way::kSmallTiles) return find_small_tiles(product, support, lists, stream);
  const Tiling tiling(product);
  const Lists out(lists, tiling);
  mask_kernel<<<tiling.places(), 32, 0, as_stream(stream)>>>(tiling, View(product), support, out.masks);
  list_kernel<<<tiling.wide_tiles, 32, 0, as_stream(stream)>>>(tiling, out);
  check_launch("block_sparse::find_tiles");
}

void pack(const Product& product, const DenseWeight& weight, const void* lists, void* values, void* stream) {
  if (product.way == Way::kSmallTiles) return pack_small_tiles(product, weight, lists, values, stream);
  if (product.type == Operand::kBf16) return pack_as<__nv_bfloat16>(product, weight, lists, values, stream);
  if (product.type == Operand::kHalf) return pack_as<__half>(product, weight, lists, values, stream);
  pack_as<float>(product, weight, lists, values, stream);
}

}  // namespace hewn::kernels::cuda::block_sparse
