#pragma once

#include "hewn/kernels/cuda/block_sparse/hopper.cuh"
#include "hewn/kernels/cuda/block_sparse/tiling.h"
#include "hewn/kernels/cuda/block_sparse/wgmma.cuh"
#include "hewn/kernels/cuda/block_sparse/write_rows.cuh"

/// The product on Hopper. A thread block sums 128 samples x one wide tile. One warp loads: chunks of the
/// samples that are needed at all, with the copy engine, and beside each the kept pieces of the weight that
/// belong to it. Warp groups of 64 samples x 128 outputs each multiply. Thread blocks of a cluster that have
/// the samples in common load a part of them each, for all; likewise the weight.
namespace hewn::kernels::cuda::block_sparse {

constexpr int kRows = 128;
constexpr int kRowBytes = kRows * kChunkBytes;
constexpr int kGroupWide = 128;  // outputs of a warp group

/// How a product with tiles of kTile lies in a multiprocessor.
template <int kTile>
struct Room {
  static constexpr int kWide = wide_of(kTile);
  static constexpr int kBlocks = kWide == 128 ? 2 : 1;  // thread blocks that run at the same time
  static constexpr int kStages = kWide == 128 ? 3 : 4;
  static constexpr int kStageBytes = kRowBytes + kWide * kChunkBytes;
  static constexpr int kBytes = kStages * kStageBytes + 1024 + 256;
  static constexpr int kGroups = 2 * kWide / kGroupWide;  // warp groups that multiply
  static constexpr int kThreads = 128 * kGroups + 32;
};

/// Thread blocks of a cluster: kDown below each other in samples, kAcross side by side in outputs.
template <int kDown_, int kAcross_>
struct Cluster {
  static constexpr int kDown = kDown_;
  static constexpr int kAcross = kAcross_;
  static constexpr int kSize = kDown * kAcross;
};

template <int kTile>
struct Stages {
  static constexpr int kStages = Room<kTile>::kStages;
  uint32_t data, full, empty;
  unsigned* masks;

  __device__ explicit Stages(uint8_t* memory) {
    uint8_t* aligned = memory + (1024 - shared_address(memory) % 1024) % 1024;
    data = shared_address(aligned);
    full = data + kStages * Room<kTile>::kStageBytes;
    empty = full + 8 * kStages;
    masks = reinterpret_cast<unsigned*>(aligned + kStages * Room<kTile>::kStageBytes + 16 * kStages);
  }
  __device__ uint32_t rows(int stage) const { return data + stage * Room<kTile>::kStageBytes; }
  __device__ uint32_t pieces(int stage) const { return rows(stage) + kRowBytes; }
};

/// Goes round the stages; the parity changes with every round.
template <int kStages>
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

/// Which samples and outputs a thread block works on in one task of its cluster. Tasks that run at the same
/// time have samples in common, so that these are read from memory once.
template <class C>
struct Task {
  unsigned group, wide, row;
  __device__ Task(const Tiling& tiling, unsigned task, unsigned rank) {
    group = task % tiling.groups();
    wide = group * C::kAcross + rank % C::kAcross;
    row = (task / tiling.groups() * C::kDown + rank / C::kAcross) * kRows;
  }
};

template <class T, int kTile, class C>
__device__ void load(const Tiling& tiling, const Lists& lists, const CUtensorMap* map, const uint8_t* values,
                     const Stages<kTile>& stages, unsigned tasks) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned rank = C::kSize == 1 ? 0 : cluster_rank();
  const unsigned across = rank % C::kAcross;
  const unsigned down = rank / C::kAcross;
  const uint16_t row_ranks = static_cast<uint16_t>(((1u << C::kAcross) - 1) << (down * C::kAcross));
  uint16_t piece_ranks = 0;
  for (int d = 0; d < C::kDown; ++d) piece_ranks |= static_cast<uint16_t>(1u << (d * C::kAcross + across));
  constexpr unsigned kPart = kRows / C::kAcross;
  Turn<Room<kTile>::kStages> turn;
  for (unsigned t = blockIdx.x / C::kSize; t < tasks; t += gridDim.x / C::kSize) {
    const Task<C> task(tiling, t, rank);
    const int count = lists.counts[task.group];
    for (int first = 0; first < count; first += 32) {
      int chunk_of_lane = 0;
      unsigned mask_of_lane = 0;
      if (first + static_cast<int>(lane) < count) {
        chunk_of_lane = lists.listed[task.group * tiling.chunks + first + lane];
        mask_of_lane = lists.masks[task.wide * tiling.chunks + chunk_of_lane];
      }
      for (int i = 0; i < min(32, count - first); ++i) {
        const int chunk = __shfl_sync(~0u, chunk_of_lane, i);
        const unsigned mask = __shfl_sync(~0u, mask_of_lane, i);
        if (lane == 0) {
          const uint32_t full = stages.full + 8 * turn.stage;
          const unsigned bytes = static_cast<unsigned>(__popc(mask)) * kTile * kSliceBytes;
          wait(stages.empty + 8 * turn.stage, turn.parity ^ 1);
          stages.masks[turn.stage] = mask;
          arrive_expecting(full, kRowBytes + bytes);
          load_box<(C::kAcross > 1)>(stages.rows(turn.stage) + across * kPart * kChunkBytes, map,
                                     chunk * static_cast<int>(kChunkBytes / sizeof(T)),
                                     static_cast<int>(task.row + across * kPart), full, row_ranks);
          if (bytes > 0) {
            const unsigned part = bytes / C::kDown;
            const uint8_t* from =
                values + (static_cast<size_t>(task.wide) * tiling.chunks + chunk) * tiling.place_bytes() +
                down * part;
            load_bytes<(C::kDown > 1)>(stages.pieces(turn.stage) + down * part, from, part, full,
                                       piece_ranks);
          }
        }
        __syncwarp();
        turn.next();
      }
    }
  }
}

/// Adds the product of 64 samples' chunk with the pieces of `mask`: bits 4 j + slice of tile j of the warp
/// group. `piece` is the first of them.
template <class T, int kTile, int kGranule>
__device__ void add_pieces(float (&sums)[kGroupWide / 2], unsigned mask, uint64_t rows, uint64_t piece) {
  constexpr unsigned kBits = (1u << kGranule) - 1;
  constexpr uint64_t kStep = kTile * kSliceBytes / 16;
#pragma unroll
  for (int j = 0; j < kGroupWide / kTile; ++j) {
    const unsigned slices = mask >> (4 * j) & 15;
    if (slices == 0) continue;
#pragma unroll
    for (int s = 0; s < kSlices; s += kGranule) {
      if (kGranule < kSlices && (slices >> s & kBits) == 0) continue;
      wgmma_fence();
#pragma unroll
      for (int g = 0; g < kGranule; ++g) {
        Wgmma<T, kTile>::multiply(sums + j * (kTile / 2), rows + (s + g) * (kSliceBytes / 16), piece);
        piece += kStep;
      }
    }
  }
}

template <int kTile, class C>
__device__ void release(const Stages<kTile>& stages, int stage) {
  // The thread blocks that write to this one's stages: those in its row and its column of the cluster.
  const unsigned lane = threadIdx.x % 128;
  if constexpr (C::kSize == 1) {
    if (lane == 0) arrive(stages.empty + 8 * stage);
  } else {
    const unsigned rank = cluster_rank();
    if (lane < C::kSize) {
      const bool same = lane % C::kAcross == rank % C::kAcross || lane / C::kAcross == rank / C::kAcross;
      if (same) arrive_at(stages.empty + 8 * stage, lane);
    }
  }
}

template <class T, int kTile, int kGranule, class C>
__device__ void multiply_chunks(const Tiling& tiling, const Lists& lists, const Target& target,
                                const Stages<kTile>& stages, unsigned tasks) {
  constexpr unsigned kBits = kGroupWide / kTile * kSlices;  // of the mask that are one warp group's
  const unsigned group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  const unsigned half = group % 2;
  const unsigned side = group / 2;
  const unsigned lane = threadIdx.x % 32;
  const unsigned rank = C::kSize == 1 ? 0 : cluster_rank();
  Turn<Room<kTile>::kStages> turn;
  for (unsigned t = blockIdx.x / C::kSize; t < tasks; t += gridDim.x / C::kSize) {
    const Task<C> task(tiling, t, rank);
    const int count = lists.counts[task.group];
    float sums[kGroupWide / 2];
#pragma unroll
    for (int i = 0; i < kGroupWide / 2; ++i) sums[i] = 0.0f;
    int before = -1;
    for (int i = 0; i < count; ++i) {
      wait(stages.full + 8 * turn.stage, turn.parity);
      const unsigned mask = stages.masks[turn.stage];
      // The own bits, in a form that the compiler knows to be the same in all lanes: branches on it are
      // cheap.
      const unsigned own = __ballot_sync(~0u, lane < kBits && (mask >> (side * kBits + lane) & 1) != 0);
      const unsigned earlier = side == 0 ? 0 : __popc(mask & ((1u << kBits) - 1));
      // One thread gives a stage back for its warp group: where no product holds the four warps together, a
      // barrier must.
      if (own == 0) asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
      wgmma_fence();
      add_pieces<T, kTile, kGranule>(
          sums, own, swizzled_rows(stages.rows(turn.stage) + half * (kRowBytes / 2)),
          piece_cores(stages.pieces(turn.stage) + earlier * kTile * kSliceBytes, kTile * 16));
      wgmma_commit();
      wgmma_wait<1>();
      if (before >= 0) release<kTile, C>(stages, before);
      before = turn.stage;
      turn.next();
    }
    wgmma_wait<0>();
    if (before >= 0) release<kTile, C>(stages, before);
    write_rows<T, kGroupWide>(sums, target, task.row + half * (kRows / 2) + threadIdx.x % 128 / 32 * 16,
                              task.wide * Room<kTile>::kWide + side * kGroupWide);
  }
}

template <class T, int kTile, int kGranule, class C>
__global__ void __launch_bounds__(Room<kTile>::kThreads, Room<kTile>::kBlocks)
    multiply_kernel(Tiling tiling, Lists lists, const __grid_constant__ CUtensorMap map,
                    const uint8_t* values, Target target, unsigned tasks) {
  using InBlock = Room<kTile>;
  extern __shared__ uint8_t memory[];
  const Stages<kTile> stages(memory);
  if (threadIdx.x == 0) {
    for (int s = 0; s < InBlock::kStages; ++s) {
      init_barrier(stages.full + 8 * s, 1);
      init_barrier(stages.empty + 8 * s, InBlock::kGroups * (C::kDown + C::kAcross - 1));
    }
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
  }
  if constexpr (C::kSize == 1) {
    __syncthreads();
  } else {
    sync_cluster();
  }
  if (threadIdx.x >= 128 * InBlock::kGroups) {
    load<T, kTile, C>(tiling, lists, &map, values, stages, tasks);
  } else {
    multiply_chunks<T, kTile, kGranule, C>(tiling, lists, target, stages, tasks);
  }
  // Nobody leaves while another still signals to it.
  if constexpr (C::kSize > 1) sync_cluster();
}

}  // namespace hewn::kernels::cuda::block_sparse
