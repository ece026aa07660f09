#pragma once

#include "hewn/kernels/cuda/block_sparse/grad_weight.h"

/// What a weight gradient computes: tiles of kSide outputs x kSide inputs that hold a kept block.
namespace hewn::kernels::cuda::block_sparse {

constexpr int kSide = 64;
constexpr int kTogether = 8;  // tiles that one thread block sums at a time
constexpr unsigned kTileFloats = kSide * kSide;

inline unsigned tiles_in(int64_t extent) { return static_cast<unsigned>((extent + kSide - 1) / kSide); }

struct Group {
  unsigned row, first, count;  // `count` listed tiles of a row of tiles, from `first` on
};

struct Pairs {
  unsigned rows, cols;  // tiles of outputs, tiles of inputs
  int* counts;          // [rows]
  int* listed;          // [rows][cols]
  int* group_count;
  Group* groups;

  Pairs(const Grid& grid, void* memory)
      : rows(tiles_in(grid.cols)),
        cols(tiles_in(grid.rows)),
        counts(static_cast<int*>(memory)),
        listed(counts + rows),
        group_count(listed + static_cast<size_t>(rows) * cols),
        groups(reinterpret_cast<Group*>(group_count + 1)) {}
};

/// At most so many groups: every row has one that is not full.
inline int64_t most_groups(const WeightGradient& g) {
  return tiles_in(g.grid.cols) + (g.kept_tiles + kTogether - 1) / kTogether;
}

}  // namespace hewn::kernels::cuda::block_sparse
