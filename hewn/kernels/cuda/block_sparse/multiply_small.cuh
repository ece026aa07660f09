#pragma once

#include "hewn/kernels/cuda/block_sparse/hopper.cuh"
#include "hewn/kernels/cuda/block_sparse/mma.cuh"
#include "hewn/kernels/cuda/block_sparse/small_tiling.h"
#include "hewn/kernels/cuda/block_sparse/turn.cuh"
#include "hewn/kernels/cuda/block_sparse/write_rows.cuh"

/// The product with small tiles on Hopper. A thread block sums 128 samples x 256 outputs: each of sixteen
/// warps one tile, or a part of its samples. The samples come through shared memory, all of their inputs in
/// turn, loaded by one more warp with the copy engine; two thread blocks side by side load half of them each,
/// for both. A warp reads its weights from memory itself, some pieces ahead: nobody else wants them.
namespace hewn::kernels::cuda::block_sparse::small {

constexpr int kRows = 128;
constexpr int kWarps = 16;
constexpr int kThreads = 32 * kWarps + 128;  // registers pass between warps in fours
constexpr int kStages = 5;
constexpr int kBoxBytes = kRows * kChunkBytes;
constexpr int kBoxes = 2;  // chunks of a stage
constexpr int kStageBytes = kBoxes * kBoxBytes;
constexpr int kStageSlices = kBoxes * kSlices;
constexpr int kTurnFloats = 16 * 20;  // where a warp turns 16 samples x 16 outputs; 20: no bank is hit twice
constexpr int kRingBytes = 2048;      // of a warp's pieces that are on their way
constexpr int kBytes = 1024 + kStages * kStageBytes + kWarps * (kRingBytes + kTurnFloats * 4) + kStages * 16;

struct Room {
  uint32_t data, ring, full, empty;
  float* turn;

  __device__ explicit Room(uint8_t* memory) {
    uint8_t* aligned = memory + (1024 - shared_address(memory) % 1024) % 1024;
    data = shared_address(aligned);
    ring = data + kStages * kStageBytes;
    turn = reinterpret_cast<float*>(aligned + kStages * kStageBytes + kWarps * kRingBytes);
    full = ring + kWarps * (kRingBytes + kTurnFloats * 4);
    empty = full + 8 * kStages;
  }
};

struct Work {
  SmallTiling tiling;
  SmallLists lists;
  const uint8_t* values;
  unsigned groups;  // clusters side by side in the outputs
  unsigned tasks;   // groups x 128 samples
  unsigned chunks;  // stages that hold a sample
};

/// Thread blocks that run at the same time have samples in common, so that these are read from memory once.
template <int kAcross>
struct Task {
  unsigned first_output, row;
  __device__ Task(const Work& work, unsigned task, unsigned rank)
      : first_output((task % work.groups * kAcross + rank) * kSmallWide), row(task / work.groups * kRows) {}
};

template <class T, int kAcross>
__device__ void load(const Work& work, const CUtensorMap* map, const Room& room, unsigned rank) {
  constexpr unsigned kPart = kRows / kAcross;
  constexpr int kBoxInputs = static_cast<int>(kChunkBytes / sizeof(T));
  Turn<kStages> turn;
  for (unsigned t = blockIdx.x / kAcross; t < work.tasks; t += gridDim.x / kAcross) {
    const Task<kAcross> task(work, t, rank);
    for (unsigned chunk = 0; chunk < work.chunks; ++chunk) {
      const uint32_t full = room.full + 8 * turn.stage;
      wait(room.empty + 8 * turn.stage, turn.parity ^ 1);
      arrive_expecting(full, kStageBytes);
#pragma unroll
      for (int box = 0; box < kBoxes; ++box) {
        load_box<(kAcross > 1)>(
            room.data + turn.stage * kStageBytes + box * kBoxBytes + rank * kPart * kChunkBytes, map,
            static_cast<int>(chunk * kBoxes + box) * kBoxInputs, static_cast<int>(task.row + rank * kPart),
            full, static_cast<uint16_t>((1u << kAcross) - 1));
      }
      turn.next();
    }
  }
}

/// What a warp holds of one tile, and where it is among the stages.
template <class T, int kAcross>
class Sums {
 public:
  static constexpr int kGroups = kRows / 16;  // 16 samples each
  static constexpr int kLoads = 4;            // groups that are loaded together

  __device__ explicit Sums(const Room& room) : room_(room) {
    const unsigned lane = threadIdx.x % 32;
    lane_ = (lane % 8 + lane / 16 * 8) * kChunkBytes + (lane / 8 % 2 ^ lane % 8) * 16;
  }

  __device__ void begin() {
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (int i = 0; i < 8; ++i) sums_[g][i] = 0.0f;
    }
    held_ = -1;
  }

  /// Holds the stage with that chunk, and has given back those before.
  __device__ void advance(int chunk) {
    while (held_ < chunk) {
      if (held_ >= 0) release();
      wait(room_.full + 8 * turn_.stage, turn_.parity);
      ++held_;
    }
  }
  __device__ void end(int chunks) {
    advance(chunks - 1);
    release();
  }

  /// Adds the product with one piece: `piece` is the lane's share of it.
  __device__ void add(unsigned slice, const uint4& piece) {
    const uint32_t from = room_.data + turn_.stage * kStageBytes +
                          slice % kStageSlices / kSlices * kBoxBytes +
                          (lane_ ^ slice % kSlices * kSliceBytes);
#pragma unroll
    for (int first = 0; first < kGroups; first += kLoads) {
      uint32_t b[kLoads][4];
#pragma unroll
      for (int g = 0; g < kLoads; ++g) load_matrices(b[g], from + (first + g) * (16 * kChunkBytes));
#pragma unroll
      for (int g = 0; g < kLoads; ++g) {
        multiply_slice(T(0.0f), sums_[first + g], piece, b[g][0], b[g][1]);
        multiply_slice(T(0.0f), sums_[first + g] + 4, piece, b[g][2], b[g][3]);
      }
    }
  }

  /// Turned in shared memory: a lane gets 8 outputs of one sample.
  __device__ void write(const Target& target, unsigned row, unsigned col) const {
    const unsigned lane = threadIdx.x % 32;
    float* turn = room_.turn + threadIdx.x / 32 * kTurnFloats;
    const float* own = turn + lane / 2 * 20 + lane % 2 * 8;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        turn[(i / 4 * 8 + lane % 4 * 2 + i % 2) * 20 + lane / 4 + i % 4 / 2 * 8] = sums_[g][i];
      }
      __syncwarp();
      float eight[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) eight[i] = own[i];
      write_eight<T>(eight, target, row + 16 * g + lane / 2, col + lane % 2 * 8);
      __syncwarp();
    }
  }

 private:
  __device__ void release() {
    __syncwarp();
    const unsigned lane = threadIdx.x % 32;
    if constexpr (kAcross == 1) {
      if (lane == 0) arrive(room_.empty + 8 * turn_.stage);
    } else {
      if (lane < kAcross) arrive_at(room_.empty + 8 * turn_.stage, lane);
    }
    turn_.next();
  }

  const Room& room_;
  Turn<kStages> turn_;
  int held_ = -1;
  uint32_t lane_;  // where the lane's row of a stage's first slice is, in the copy engine's order
  float sums_[kGroups][8];
};

/// A lane's share of the pieces of a tile, as they come through the warp's ring: each lane waits for its own.
class Pieces {
 public:
  static constexpr int kAhead = kRingBytes / kSmallPieceBytes;

  __device__ explicit Pieces(const Room& room)
      : ring_(room.ring + threadIdx.x / 32 * kRingBytes + threadIdx.x % 32 * 16) {}

  __device__ void begin(const uint8_t* first, int count) {
    from_ = reinterpret_cast<const uint4*>(first) + threadIdx.x % 32;
    count_ = count;
    for (int i = 0; i < kAhead - 1; ++i) ask(i);
  }
  /// Pieces are taken in their order.
  __device__ uint4 take(int i) {
    ask(i + kAhead - 1);
    asm volatile("cp.async.wait_group %0;" ::"n"(kAhead - 1) : "memory");
    uint4 piece;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(piece.x), "=r"(piece.y), "=r"(piece.z), "=r"(piece.w)
                 : "r"(place(i)));
    return piece;
  }

 private:
  __device__ uint32_t place(int i) const {
    return ring_ + static_cast<uint32_t>(i % kAhead * kSmallPieceBytes);
  }
  /// Counts as a copy even where there is nothing to copy.
  __device__ void ask(int i) {
    if (i < count_) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place(i)),
                   "l"(from_ + static_cast<size_t>(i) * (kSmallPieceBytes / 16))
                   : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  uint32_t ring_;
  const uint4* from_;
  int count_;
};

template <class T, int kAcross>
__device__ void multiply_tiles(const Work& work, const Target& target, const Room& room, unsigned rank) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned place = __shfl_sync(~0u, threadIdx.x / 32, 0);
  Sums<T, kAcross> sums(room);
  Pieces pieces(room);
  for (unsigned t = blockIdx.x / kAcross; t < work.tasks; t += gridDim.x / kAcross) {
    const Task<kAcross> task(work, t, rank);
    const unsigned tile = task.first_output / kSmallTile + place;
    const int count = work.lists.counts[tile];
    const unsigned* listed = work.lists.listed + static_cast<size_t>(tile) * work.tiling.slices;
    const auto names_from = [&](int i) {
      return i + static_cast<int>(lane) < count ? listed[i + static_cast<int>(lane)] : 0;
    };
    pieces.begin(work.values + tile * work.tiling.place_bytes(), count);
    unsigned names = names_from(0);
    unsigned later = names_from(32);
    unsigned slice = __shfl_sync(~0u, names, 0);
    sums.begin();
    for (int i = 0; i < count; ++i) {
      if ((i + 1) % 32 == 0) {
        names = later;
        later = names_from(i + 33);
      }
      // Asked for before the product, which hides how long it takes.
      const unsigned upcoming = __shfl_sync(~0u, names, (i + 1) % 32);
      const uint4 piece = pieces.take(i);
      sums.advance(static_cast<int>(slice / kStageSlices));
      sums.add(slice, piece);
      slice = upcoming;
    }
    sums.end(static_cast<int>(work.chunks));
    sums.write(target, task.row, task.first_output + place * kSmallTile);
  }
}

template <class T, int kAcross>
__global__ void __launch_bounds__(kThreads, 1)
    multiply_kernel(Work work, const __grid_constant__ CUtensorMap map, Target target) {
  extern __shared__ uint8_t memory[];
  const Room room(memory);
  const unsigned rank = kAcross == 1 ? 0 : cluster_rank();
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init_barrier(room.full + 8 * s, 1);
      init_barrier(room.empty + 8 * s, kWarps * kAcross);
    }
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
  }
  if constexpr (kAcross == 1) {
    __syncthreads();
  } else {
    sync_cluster();
  }
  if (threadIdx.x >= 32 * kWarps) {
    give_registers<24>();
    if (threadIdx.x == 32 * kWarps) load<T, kAcross>(work, &map, room, rank);
    __syncwarp();
  } else {
    take_registers<112>();
    multiply_tiles<T, kAcross>(work, target, room, rank);
  }
  // Nobody leaves while another still signals to it.
  if constexpr (kAcross > 1) sync_cluster();
}

}  // namespace hewn::kernels::cuda::block_sparse::small
