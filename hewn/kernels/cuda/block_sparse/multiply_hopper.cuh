#pragma once

#include "hewn/kernels/cuda/block_sparse/hopper.cuh"
#include "hewn/kernels/cuda/block_sparse/sources.cuh"
#include "hewn/kernels/cuda/block_sparse/tiling.h"
#include "hewn/kernels/cuda/block_sparse/turn.cuh"
#include "hewn/kernels/cuda/block_sparse/wgmma.cuh"
#include "hewn/kernels/cuda/block_sparse/write_rows.cuh"

/// The product with tiles of 32 and more on Hopper. A thread block sums some samples x one wide tile, task by
/// task. One warp takes tasks and loads: chunks of the samples that are needed at all, with the copy engine,
/// and beside each the kept pieces of the weight that belong to it. The others multiply: each warp group has
/// one tile and all samples, or, of a tile as wide as the wide one, half of them. A task is taken when there
/// is room for one, since wide tiles differ in what they keep.
namespace hewn::kernels::cuda::block_sparse {

constexpr unsigned kNoTask = ~0u;

/// How a product with tiles of kTile lies in a multiprocessor. Sums take 64 registers always. Where two
/// thread blocks have room one writes while the other multiplies.
template <int kTile_>
struct Room {
  static constexpr int kTile = kTile_;
  static constexpr int kChunk = large_chunk_bytes(kTile);
  static constexpr int kSlices = kChunk / kSliceBytes;
  static constexpr int kGroups = kTile == 32 ? 4 : 2;         // warp groups that multiply
  static constexpr int kGroupRows = 64 * kLargeWide / kTile;  // samples of each
  static constexpr int kRows = kTile == kLargeWide ? 2 * kGroupRows : kGroupRows;
  static constexpr int kBlocks = kTile == 32 ? 1 : 2;  // thread blocks that run at the same time
  static constexpr int kStages = kTile == 32 ? 9 : 3;
  static constexpr int kRowBytes = kRows * kChunk;
  static constexpr int kStageBytes = kRowBytes + kLargeWide * kChunk;
  static constexpr int kBytes = kStages * kStageBytes + 1024 + 256;
  static constexpr int kThreads = 128 * kGroups + 32;
};

/// What there is to do.
struct Work {
  Tiling tiling;
  Lists lists;
  const uint8_t* values;
  unsigned tasks;
};

/// What the loading warp says of a stage.
struct Note {
  unsigned mask;  // pieces in it
  unsigned task;  // kNoTask: there is nothing more to do
  bool last;      // of its task
};

template <class R>
struct Stages {
  uint32_t data, full, empty;
  Note* notes;

  __device__ explicit Stages(uint8_t* memory) {
    uint8_t* aligned = memory + (1024 - shared_address(memory) % 1024) % 1024;
    data = shared_address(aligned);
    full = data + R::kStages * R::kStageBytes;
    empty = full + 8 * R::kStages;
    notes = reinterpret_cast<Note*>(aligned + R::kStages * (R::kStageBytes + 16));
  }
  __device__ uint32_t rows(int stage) const { return data + stage * R::kStageBytes; }
  __device__ uint32_t pieces(int stage) const { return rows(stage) + R::kRowBytes; }
};

/// Which samples and outputs a task has. Tasks that run at the same time have samples in common, so that
/// these are read from memory once.
struct Task {
  unsigned wide, row;
  __device__ Task(const Tiling& tiling, unsigned task, int rows)
      : wide(task % tiling.wide_tiles), row(task / tiling.wide_tiles * rows) {}
};

/// The tasks of a thread block, for its loading warp; the next one is asked for while the last is loaded.
class Tasks {
 public:
  __device__ Tasks(const Lists& lists, unsigned tasks) : lists_(lists), tasks_(tasks) { take(); }

  __device__ unsigned next() {
    const unsigned task = __shfl_sync(~0u, upcoming_, 0);
    if (task >= tasks_) return kNoTask;
    take();
    return task;
  }
  /// The last of all leaves zeros for the product that comes next.
  __device__ void end() const {
    if (threadIdx.x % 32 != 0) return;
    if (atomicAdd(&lists_.tasks->done, 1) == gridDim.x - 1) *lists_.tasks = {0, 0};
  }

 private:
  __device__ void take() {
    if (threadIdx.x % 32 == 0) upcoming_ = atomicAdd(&lists_.tasks->taken, 1);
  }

  const Lists& lists_;
  unsigned tasks_;
  unsigned upcoming_ = 0;
};

/// Brings a task's residual into the cache while its products are computed: the warps that add it would wait.
template <class T, class R>
__device__ void prefetch_residual(const Task& task, const Target& target) {
  const unsigned col = task.wide * kLargeWide;
  const unsigned bytes = min(kLargeWide, target.outputs - col) * static_cast<unsigned>(sizeof(T));
  const unsigned end = min(task.row + R::kRows, target.samples);
  for (unsigned row = task.row + threadIdx.x % 32; row < end; row += 32) {
    prefetch_bytes(static_cast<const T*>(target.residual) + size_t{row} * target.outputs + col, bytes);
  }
}

template <class T, class R, class Rows>
__device__ void load(const Work& work, const CUtensorMap* map, const Rows& rows, const Target& target,
                     const Stages<R>& stages) {
  const auto& [tiling, lists, values, tasks] = work;
  const unsigned lane = threadIdx.x % 32;
  Turn<R::kStages> turn;
  Tasks taken(lists, tasks);
  const auto begin_stage = [&](const Note& note, unsigned bytes) {
    const uint32_t full = stages.full + 8 * turn.stage;
    wait(stages.empty + 8 * turn.stage, turn.parity ^ 1);
    stages.notes[turn.stage] = note;
    arrive_expecting(full, bytes);
    return full;
  };
  for (unsigned t = taken.next(); t != kNoTask; t = taken.next()) {
    const Task task(tiling, t, R::kRows);
    const auto start = rows.start_of(task.row);
    if (target.residual != nullptr) prefetch_residual<T, R>(task, target);
    const int count = lists.counts[task.wide];
    if (count == 0) {
      if (lane == 0) begin_stage({0, t, true}, 0);
      turn.next();
    }
    for (int first = 0; first < count; first += 32) {
      int chunk_of_lane = 0;
      unsigned mask_of_lane = 0;
      unsigned place_of_lane = 0;
      if (first + static_cast<int>(lane) < count) {
        chunk_of_lane = lists.listed[task.wide * tiling.chunks + first + lane];
        mask_of_lane = lists.masks[task.wide * tiling.chunks + chunk_of_lane];
        place_of_lane = rows.place_of(chunk_of_lane);
      }
      for (int i = 0; i < min(32, count - first); ++i) {
        const int chunk = __shfl_sync(~0u, chunk_of_lane, i);
        const unsigned mask = __shfl_sync(~0u, mask_of_lane, i);
        const unsigned place = __shfl_sync(~0u, place_of_lane, i);
        if (lane == 0) {
          const unsigned bytes = static_cast<unsigned>(__popc(mask)) * R::kTile * kSliceBytes;
          const uint32_t full = begin_stage({mask, t, first + i == count - 1}, R::kRowBytes + bytes);
          rows.template load<R::kChunk / sizeof(T)>(stages.rows(turn.stage), map, start, place, full);
          load_bytes(stages.pieces(turn.stage),
                     values + (static_cast<size_t>(task.wide) * tiling.chunks + chunk) * tiling.place_bytes(),
                     bytes, full);
        }
        __syncwarp();
        turn.next();
      }
    }
  }
  if (lane == 0) begin_stage({0, kNoTask, true}, 0);
  taken.end();
}

/// What a thread of a warp group sums: a tile for every 64 samples.
constexpr int kSums = kLargeWide / 2;

/// Adds the product of the warp group's samples with its tile, all slices of a chunk.
template <class T, class R>
__device__ void add_tile(float (&sums)[kSums], uint32_t rows, uint32_t pieces) {
  const uint64_t piece = piece_cores(pieces, R::kTile * 16);
#pragma unroll
  for (int g = 0; g < R::kGroupRows / 64; ++g) {
    const uint64_t row = swizzled_rows<R::kChunk>(rows + g * 64 * R::kChunk);
#pragma unroll
    for (int s = 0; s < R::kSlices; ++s) {
      Wgmma<T, R::kTile>::multiply(sums + g * (R::kTile / 2), row + s * (kSliceBytes / 16),
                                   piece + s * (R::kTile * kSliceBytes / 16));
    }
  }
}

/// Every 64 samples from kFirst on. No loop: the compiler would keep the sums in memory for it.
template <class T, class R, int kFirst = 0>
__device__ void write_tiles(float (&sums)[kSums], const Target& target, size_t row, unsigned col) {
  write_rows<T, R::kTile>(sums + kFirst * (R::kTile / 2), target, row + kFirst * 64, col);
  if constexpr ((kFirst + 1) * 64 < R::kGroupRows) write_tiles<T, R, kFirst + 1>(sums, target, row, col);
}

template <class T, class R>
__device__ void multiply_chunks(const Tiling& tiling, const Target& target, const Stages<R>& stages) {
  constexpr bool kHalves = R::kTile == kLargeWide;
  const unsigned group = __shfl_sync(~0u, threadIdx.x / 128, 0);
  const unsigned first_row = kHalves ? group * R::kGroupRows : 0;
  const unsigned first_bit = kHalves ? 0 : group * R::kSlices;
  Turn<R::kStages> turn;
  const auto release = [&](int stage) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(stages.empty + 8 * stage);
  };
  while (true) {
    wait(stages.full + 8 * turn.stage, turn.parity);
    const unsigned t = stages.notes[turn.stage].task;
    if (t == kNoTask) return;
    float sums[kSums];
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums[i] = 0.0f;
    int before = -1;
    bool last = false;
    while (!last) {
      wait(stages.full + 8 * turn.stage, turn.parity);
      last = stages.notes[turn.stage].last;
      const unsigned mask = stages.notes[turn.stage].mask;
      const unsigned earlier = __popc(mask & ((1u << first_bit) - 1));
      wgmma_fence();
      // In a form that the compiler knows to be the same in all lanes: a branch on it is cheap.
      if (__ballot_sync(~0u, (mask >> first_bit & 1) != 0) != 0) {
        add_tile<T, R>(sums, stages.rows(turn.stage) + first_row * R::kChunk,
                       stages.pieces(turn.stage) + earlier * R::kTile * kSliceBytes);
      }
      wgmma_commit();
      wgmma_wait<1>();
      if (before >= 0) release(before);
      before = turn.stage;
      turn.next();
    }
    wgmma_wait<0>();
    release(before);
    const Task task(tiling, t, R::kRows);
    const unsigned col = task.wide * kLargeWide + (kHalves ? 0 : group * R::kTile);
    write_tiles<T, R>(sums, target, task.row + first_row + threadIdx.x % 128 / 32 * 16, col);
  }
}

template <class T, class R, class Rows>
__global__ void __launch_bounds__(R::kThreads, R::kBlocks)
    multiply_kernel(Work work, const __grid_constant__ CUtensorMap map, Rows rows, Target target) {
  extern __shared__ uint8_t memory[];
  const Stages<R> stages(memory);
  if (threadIdx.x == 0) {
    for (int s = 0; s < R::kStages; ++s) {
      init_barrier(stages.full + 8 * s, 1);
      init_barrier(stages.empty + 8 * s, 4 * R::kGroups);  // every warp gives it back
    }
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 128 * R::kGroups) {
    load<T, R>(work, &map, rows, target, stages);
  } else {
    multiply_chunks<T, R>(work.tiling, target, stages);
  }
}

}  // namespace hewn::kernels::cuda::block_sparse
