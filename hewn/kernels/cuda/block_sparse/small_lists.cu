// What a support means for a product with small tiles: a list of slices for every tile, and the kept values
// in its order.
#include "hewn/kernels/cuda/block_sparse/kept.cuh"
#include "hewn/kernels/cuda/block_sparse/multiply.h"
#include "hewn/kernels/cuda/block_sparse/small_tiling.h"

namespace hewn::kernels::cuda::block_sparse {
namespace {

/// A warp for each tile.
__global__ void list_kernel(SmallTiling tiling, View view, const uint8_t* support, SmallLists lists) {
  const unsigned tile = blockIdx.x;
  const Range outs{tile * kSmallTile, min((tile + 1) * kSmallTile, tiling.outputs)};
  unsigned* listed = lists.listed + static_cast<size_t>(tile) * tiling.slices;
  int count = 0;
  for (unsigned first = 0; first < tiling.slices && outs.first < outs.last; first += 32) {
    const unsigned slice = first + threadIdx.x;
    const Range ins{slice * tiling.slice_inputs(), min((slice + 1) * tiling.slice_inputs(), tiling.inputs)};
    const bool kept = slice < tiling.slices && any_kept(view, support, outs, ins);
    const unsigned bits = __ballot_sync(~0u, kept);
    if (kept) listed[count + __popc(bits & ((1u << threadIdx.x) - 1))] = slice;
    count += __popc(bits);
  }
  if (threadIdx.x == 0) lists.counts[tile] = count;
}

/// A thread block for each tile. Of 16 outputs lane l gets those in rows l / 4 and l / 4 + 8, the l % 4-th
/// four bytes of the slice's first half, then of its second.
template <class T, class S>
__global__ void pack_kernel(SmallTiling tiling, View view, DenseWeight weight, SmallLists lists,
                            uint8_t* values) {
  constexpr unsigned kTogether = 4 / sizeof(T);
  const unsigned tile = blockIdx.x;
  const unsigned* listed = lists.listed + static_cast<size_t>(tile) * tiling.slices;
  auto* out = reinterpret_cast<uint4*>(values + tile * tiling.place_bytes());
  const unsigned total = static_cast<unsigned>(lists.counts[tile]) * 32;
  for (unsigned u = threadIdx.x; u < total; u += blockDim.x) {
    const unsigned lane = u % 32;
    const unsigned o = tile * kSmallTile + lane / 4;
    const unsigned i = listed[u / 32] * tiling.slice_inputs() + lane % 4 * kTogether;
    union {
      T typed[4 * kTogether];
      uint4 whole;
    } sixteen = {};
#pragma unroll
    for (unsigned e = 0; e < 4 * kTogether; ++e) {
      const unsigned four = e / kTogether;
      store(value_at<S>(view, weight, o + four % 2 * 8,
                        i + four / 2 * (tiling.slice_inputs() / 2) + e % kTogether),
            sixteen.typed[e]);
    }
    out[u] = sixteen.whole;
  }
}

template <class T>
void pack_as(const Product& product, const DenseWeight& weight, const void* lists, void* values,
             void* stream) {
  const SmallTiling tiling(product);
  const auto kernel = weight.source == Source::kFloat ? pack_kernel<T, float> : pack_kernel<T, T>;
  kernel<<<tiling.tiles, 256, 0, as_stream(stream)>>>(tiling, View(product), weight,
                                                      SmallLists(const_cast<void*>(lists), tiling),
                                                      static_cast<uint8_t*>(values));
  check_launch("block_sparse::pack");
}

}  // namespace

void find_small_tiles(const Product& product, const uint8_t* support, void* lists, void* stream) {
  const SmallTiling tiling(product);
  list_kernel<<<tiling.tiles, 32, 0, as_stream(stream)>>>(tiling, View(product), support,
                                                          SmallLists(lists, tiling));
  check_launch("block_sparse::find_tiles");
}

void pack_small_tiles(const Product& product, const DenseWeight& weight, const void* lists, void* values,
                      void* stream) {
  if (product.type == Operand::kBf16) return pack_as<__nv_bfloat16>(product, weight, lists, values, stream);
  if (product.type == Operand::kHalf) return pack_as<__half>(product, weight, lists, values, stream);
  pack_as<float>(product, weight, lists, values, stream);
}

}  // namespace hewn::kernels::cuda::block_sparse
