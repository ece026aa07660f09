// A task is up to eight kept tiles of one row of tiles (64 outputs) and one part of the samples: dy is loaded
// once for all eight. One warp loads, two warp groups multiply every second tile.
#include <cuda_runtime.h>

#include "hewn/kernels/cuda/block_sparse/grad_weight.h"
#include "hewn/kernels/cuda/block_sparse/hopper.cuh"
#include "hewn/kernels/cuda/block_sparse/pairs.h"
#include "hewn/kernels/cuda/block_sparse/tensor_map.h"
#include "hewn/kernels/cuda/block_sparse/wgmma_turned.cuh"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda::block_sparse {
namespace {

constexpr int kBoxBytes = kSide * kSide * 2;
constexpr int kStages = 3;
constexpr int kStageBytes = (1 + kTogether) * kBoxBytes;
constexpr int kSharedBytes = kStages * kStageBytes + 1024 + 64;
constexpr int kThreads = 288;

struct Work {
  Pairs pairs;
  float* sums;           // [part][group][kTogether][kSide outputs][kSide inputs]
  unsigned parts, most;  // most: groups that sums have room for
  unsigned part_boxes;   // boxes of kSide samples in a part
};

struct Turn {
  int stage = 0;
  unsigned parity = 0;
  __device__ void next() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

__device__ void load(const Work& work, const CUtensorMap* x, const CUtensorMap* dy, uint32_t data) {
  const uint32_t full = data + kStages * kStageBytes;
  const uint32_t empty = full + 8 * kStages;
  const auto groups = static_cast<unsigned>(*work.pairs.group_count);
  Turn turn;
  for (unsigned t = blockIdx.x; t < groups * work.parts; t += gridDim.x) {
    const Group group = work.pairs.groups[t % groups];
    int cols[kTogether];
#pragma unroll
    for (unsigned i = 0; i < kTogether; ++i) {
      cols[i] =
          i < group.count ? work.pairs.listed[group.row * work.pairs.cols + group.first + i] * kSide : 0;
    }
    for (unsigned box = 0; box < work.part_boxes; ++box) {
      const auto sample = static_cast<int>((t / groups * work.part_boxes + box) * kSide);
      const uint32_t to = data + turn.stage * kStageBytes;
      const uint32_t barrier = full + 8 * turn.stage;
      wait(empty + 8 * turn.stage, turn.parity ^ 1);
      arrive_expecting(barrier, (1 + group.count) * kBoxBytes);
      load_box<false>(to, dy, static_cast<int>(group.row * kSide), sample, barrier, 0);
#pragma unroll
      for (unsigned i = 0; i < kTogether; ++i) {
        if (i < group.count) load_box<false>(to + (1 + i) * kBoxBytes, x, cols[i], sample, barrier, 0);
      }
      turn.next();
    }
  }
}

/// A tile's sums as the matrix instructions leave them: see write_rows.
__device__ void write_tile(const float (&sums)[kSide / 2], float* tile) {
  const unsigned row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
  const unsigned col = threadIdx.x % 4 * 2;
#pragma unroll
  for (int g = 0; g < kSide / 8; ++g) {
    *reinterpret_cast<float2*>(tile + row * kSide + 8 * g + col) = {sums[4 * g], sums[4 * g + 1]};
    *reinterpret_cast<float2*>(tile + (row + 8) * kSide + 8 * g + col) = {sums[4 * g + 2], sums[4 * g + 3]};
  }
}

template <class T>
__device__ void multiply_boxes(const Work& work, uint32_t data) {
  constexpr int kOwn = kTogether / 2;
  const uint32_t full = data + kStages * kStageBytes;
  const uint32_t empty = full + 8 * kStages;
  const unsigned half = threadIdx.x / 128;
  const auto groups = static_cast<unsigned>(*work.pairs.group_count);
  Turn turn;
  for (unsigned t = blockIdx.x; t < groups * work.parts; t += gridDim.x) {
    const unsigned count = work.pairs.groups[t % groups].count;
    // As bits that the compiler knows to be the same in all lanes.
    const unsigned own = __ballot_sync(~0u, threadIdx.x % 32 < kOwn && threadIdx.x % 32 * 2 + half < count);
    float sums[kOwn][kSide / 2];
#pragma unroll
    for (int i = 0; i < kOwn * kSide / 2; ++i) sums[i / (kSide / 2)][i % (kSide / 2)] = 0.0f;
    int before = 0;
    for (unsigned box = 0; box < work.part_boxes; ++box) {
      const uint32_t stage = data + turn.stage * kStageBytes;
      wait(full + 8 * turn.stage, turn.parity);
      wgmma_fence();
#pragma unroll
      for (unsigned i = 0; i < kOwn; ++i) {
        if ((own >> i & 1) == 0) continue;
        const uint64_t a = swizzled_rows<128>(stage);
        const uint64_t b = swizzled_rows<128>(stage + (1 + 2 * i + half) * kBoxBytes);
        wgmma_fence();
        // 16 samples are 2048 bytes of a box.
#pragma unroll
        for (int k = 0; k < kSide / 16; ++k) multiply_turned(T(0.0f), sums[i], a + k * 128, b + k * 128);
      }
      wgmma_commit();
      wgmma_wait<1>();
      // A warp group may have no tile here, so that no product holds its warps together.
      if (own == 0) asm volatile("bar.sync %0, 128;" ::"r"(1 + half) : "memory");
      if (box > 0 && threadIdx.x % 128 == 0) arrive(empty + 8 * before);
      before = turn.stage;
      turn.next();
    }
    wgmma_wait<0>();
    if (threadIdx.x % 128 == 0) arrive(empty + 8 * before);
    float* tiles =
        work.sums + (static_cast<size_t>(t / groups) * work.most + t % groups) * kTogether * kTileFloats;
#pragma unroll
    for (unsigned i = 0; i < kOwn; ++i) {
      if (2 * i + half < count) write_tile(sums[i], tiles + (2 * i + half) * kTileFloats);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    grad_kernel(Work work, const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap dy) {
  extern __shared__ uint8_t memory[];
  const uint32_t data = (shared_address(memory) + 1023) / 1024 * 1024;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init_barrier(data + kStages * kStageBytes + 8 * s, 1);
      init_barrier(data + kStages * kStageBytes + 8 * (kStages + s), 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x < 256) {
    multiply_boxes<T>(work, data);
  } else if (threadIdx.x == 256) {
    load(work, &x, &dy, data);
  }
}

/// Adds the parts of one tile in their order and puts it where it belongs.
template <class T>
__global__ void gather_kernel(Work work, Layout layout, const uint8_t* support, T* grad) {
  const unsigned g = blockIdx.x / kTogether;
  const unsigned i = blockIdx.x % kTogether;
  if (g >= static_cast<unsigned>(*work.pairs.group_count)) return;
  const Group group = work.pairs.groups[g];
  if (i >= group.count) return;
  const unsigned out = group.row * kSide;
  const auto in =
      static_cast<unsigned>(work.pairs.listed[group.row * work.pairs.cols + group.first + i]) * kSide;
  for (unsigned e = threadIdx.x; e < kTileFloats; e += blockDim.x) {
    const unsigned col = out + e / kSide;
    const unsigned row = in + e % kSide;
    if (col >= layout.cols || row >= layout.rows) continue;
    float sum = 0.0f;
    for (unsigned p = 0; p < work.parts; ++p) {
      sum += work.sums[((static_cast<size_t>(p) * work.most + g) * kTogether + i) * kTileFloats + e];
    }
    const bool kept = support[row / layout.block_rows * layout.col_blocks + layout.col_block_of(col)] != 0;
    grad[static_cast<size_t>(col) * layout.rows + row] = static_cast<T>(kept ? sum : 0.0f);
  }
}

template <class T>
void compute(const WeightGradient& g, const void* lists, void* sums, const GradWeightCall& call,
             void* stream) {
  const Pairs pairs(g.grid, const_cast<void*>(lists));
  const unsigned boxes = tiles_in(g.samples);
  const auto parts = static_cast<unsigned>(g.parts);
  const Work work{pairs, static_cast<float*>(sums), parts, static_cast<unsigned>(most_groups(g)),
                  (boxes + parts - 1) / parts};
  const auto kernel = grad_kernel<T>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  kernel<<<multiprocessors(), kThreads, kSharedBytes, as_stream(stream)>>>(
      work, tensor_map(g.type, call.x, {g.samples, g.grid.rows}, {kSide, kSide}),
      tensor_map(g.type, call.dy, {g.samples, g.grid.cols}, {kSide, kSide}));
  const Layout layout(WeightLayout{g.grid, 1});
  const bool single = call.type == Source::kFloat;
  if (call.fill) {
    cudaMemsetAsync(call.grad, 0, static_cast<size_t>(g.grid.elements()) * (single ? 4 : sizeof(T)),
                    as_stream(stream));
  }
  if (single) {
    gather_kernel<<<work.most * kTogether, 256, 0, as_stream(stream)>>>(work, layout, call.support,
                                                                        static_cast<float*>(call.grad));
  } else {
    gather_kernel<<<work.most * kTogether, 256, 0, as_stream(stream)>>>(work, layout, call.support,
                                                                        static_cast<T*>(call.grad));
  }
  check_launch("block_sparse::grad_weight");
}

}  // namespace

void grad_weight(const WeightGradient& gradient, const void* lists, void* sums, const GradWeightCall& call,
                 void* stream) {
  if (gradient.type == Operand::kBf16) return compute<__nv_bfloat16>(gradient, lists, sums, call, stream);
  if (gradient.type == Operand::kHalf) return compute<__half>(gradient, lists, sums, call, stream);
  throw Error("block-sparse weight gradient: expected bf16 or half operands");
}

}  // namespace hewn::kernels::cuda::block_sparse
