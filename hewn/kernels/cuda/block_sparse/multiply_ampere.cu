// The product with the matrix instructions that every GPU from Ampere on has. A thread block of eight warps
// sums 128 samples x one wide tile, each warp 16 of the samples; chunks of the samples and kept pieces of the
// weight come through two stages of shared memory.
#include <cuda_runtime.h>

#include "hewn/kernels/cuda/block_sparse/mma.cuh"
#include "hewn/kernels/cuda/block_sparse/multiply.h"
#include "hewn/kernels/cuda/block_sparse/tiling.h"
#include "hewn/kernels/cuda/block_sparse/write_rows.cuh"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda::block_sparse {
namespace {

constexpr int kRows = 128;
constexpr int kThreads = 256;
constexpr int kRowBytes = kRows * kChunkBytes;
template <int kTile>
constexpr int kStageBytes = kRowBytes + wide_of(kTile) * kChunkBytes;

struct Rows {
  const uint8_t* x;
  unsigned samples, bytes;  // bytes of a sample
  bool aligned;             // whether samples begin at multiples of 16 bytes
};

__device__ void copy_16(uint8_t* to, const void* from, unsigned valid) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(valid)
               : "memory");
}

/// 16 bytes of a sample at `at`; zeros beyond its end and below the last sample.
template <class T>
__device__ void copy_samples(uint8_t* to, const Rows& rows, unsigned sample, unsigned at) {
  const unsigned left = sample < rows.samples && at < rows.bytes ? min(16u, rows.bytes - at) : 0;
  const uint8_t* from = rows.x + (left > 0 ? static_cast<size_t>(sample) * rows.bytes + at : 0);
  if (rows.aligned) return copy_16(to, from, left);
  for (unsigned e = 0; e < 16 / sizeof(T); ++e) {
    reinterpret_cast<T*>(to)[e] = e * sizeof(T) < left ? reinterpret_cast<const T*>(from)[e] : T(0.0f);
  }
}

/// Rows of eight times 16 bytes, in an order that keeps eight rows' reads in different banks.
__device__ unsigned place_of(unsigned row, unsigned part) {
  return row * kChunkBytes + (part ^ row % 8) * 16;
}

template <class T>
__device__ void fill(uint8_t* stage, const Rows& rows, unsigned row, unsigned chunk, const uint8_t* pieces,
                     unsigned piece_bytes) {
  for (unsigned u = threadIdx.x; u < kRowBytes / 16; u += kThreads) {
    copy_samples<T>(stage + place_of(u / 8, u % 8), rows, row + u / 8, chunk * kChunkBytes + u % 8 * 16);
  }
  for (unsigned at = threadIdx.x * 16; at < piece_bytes; at += kThreads * 16) {
    copy_16(stage + kRowBytes + at, pieces + at, 16);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ uint4 load_rows(const uint8_t* stage, unsigned warp, unsigned slice) {
  const unsigned lane = threadIdx.x % 32;
  uint32_t a[4];
  load_matrices(a, static_cast<uint32_t>(__cvta_generic_to_shared(
                       stage + place_of(warp * 16 + lane % 16, slice * 2 + lane / 16))));
  return {a[0], a[1], a[2], a[3]};
}

template <class T, int kTile>
__device__ void add_pieces(float (&sums)[wide_of(kTile) / 2], unsigned mask, const uint8_t* stage) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  uint4 a[kSlices];
#pragma unroll
  for (int s = 0; s < kSlices; ++s) a[s] = load_rows(stage, warp, s);
  const uint8_t* piece = stage + kRowBytes;
#pragma unroll
  for (int j = 0; j < wide_of(kTile) / kTile; ++j) {
    const unsigned slices = mask >> (4 * j) & 15;
    if (slices == 0) continue;
#pragma unroll
    for (int s = 0; s < kSlices; ++s) {
      if ((slices >> s & 1) == 0) continue;
#pragma unroll
      for (int n = 0; n < kTile / 8; ++n) {
        const auto* core = reinterpret_cast<const uint32_t*>(piece + n * 128) + lane;
        multiply_slice(T(0.0f), sums + (j * kTile + n * 8) / 2, a[s], core[0], core[kTile * 4]);
      }
      piece += kTile * kSliceBytes;
    }
  }
}

template <class T, int kTile>
__global__ void __launch_bounds__(kThreads, 1)
    multiply_kernel(Tiling tiling, Lists lists, Rows rows, const uint8_t* values, Target target) {
  constexpr int kWide = wide_of(kTile);
  extern __shared__ __align__(128) uint8_t memory[];
  const unsigned wide = blockIdx.x % tiling.wide_tiles;
  const unsigned row = blockIdx.x / tiling.wide_tiles * kRows;
  const int count = lists.counts[wide];
  const int* listed = lists.listed + wide * tiling.chunks;
  const unsigned* masks = lists.masks + wide * tiling.chunks;
  if (wide * kWide >= tiling.outputs) return;
  const auto fill_stage = [&](int i) {
    const auto chunk = static_cast<unsigned>(listed[i]);
    fill<T>(memory + i % 2 * kStageBytes<kTile>, rows, row, chunk,
            values + (static_cast<size_t>(wide) * tiling.chunks + chunk) * tiling.place_bytes(),
            static_cast<unsigned>(__popc(masks[chunk])) * kTile * kSliceBytes);
  };
  float sums[kWide / 2];
#pragma unroll
  for (int i = 0; i < kWide / 2; ++i) sums[i] = 0.0f;
  if (count > 0) fill_stage(0);
  for (int i = 0; i < count; ++i) {
    if (i + 1 < count) {
      fill_stage(i + 1);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    add_pieces<T, kTile>(sums, masks[listed[i]], memory + i % 2 * kStageBytes<kTile>);
    __syncthreads();
  }
  write_any<T, kWide>(sums, target, row + threadIdx.x / 32 * 16, wide * kWide);
}

template <class T, int kTile>
void launch(const Product& product, const void* lists, const void* values, const Samples& samples,
            void* stream) {
  const auto kernel = multiply_kernel<T, kTile>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 2 * kStageBytes<kTile>);
  const Tiling tiling(product);
  const unsigned blocks = static_cast<unsigned>((samples.samples + kRows - 1) / kRows) * tiling.wide_tiles;
  const unsigned bytes = tiling.inputs * static_cast<unsigned>(sizeof(T));
  const bool aligned = bytes % 16 == 0 && reinterpret_cast<uintptr_t>(samples.x) % 16 == 0;
  const Rows rows{static_cast<const uint8_t*>(samples.x), static_cast<unsigned>(samples.samples), bytes,
                  aligned};
  kernel<<<blocks, kThreads, 2 * kStageBytes<kTile>, as_stream(stream)>>>(
      tiling, Lists(const_cast<void*>(lists), tiling), rows, static_cast<const uint8_t*>(values),
      target_of(product, samples));
  check_launch("block_sparse::multiply");
}

template <class T>
void launch_tile(const Product& product, const void* lists, const void* values, const Samples& samples,
                 void* stream) {
  switch (product.tile) {
    case 32:
      return launch<T, 32>(product, lists, values, samples, stream);
    case 64:
      return launch<T, 64>(product, lists, values, samples, stream);
    default:
      return launch<T, 128>(product, lists, values, samples, stream);
  }
}

}  // namespace

void multiply_ampere(const Product& product, const void* lists, const void* values, const Samples& samples,
                     void* stream) {
  if (product.type == Operand::kBf16) {
    launch_tile<__nv_bfloat16>(product, lists, values, samples, stream);
  } else if (product.type == Operand::kHalf) {
    launch_tile<__half>(product, lists, values, samples, stream);
  } else {
    launch_tile<float>(product, lists, values, samples, stream);
  }
}

}  // namespace hewn::kernels::cuda::block_sparse
