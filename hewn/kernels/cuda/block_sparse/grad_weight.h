#pragma once

#include <cstdint>

#include "hewn/kernels/cuda/block_sparse/block_sparse.h"

namespace hewn::kernels::cuda::block_sparse {

/// The gradient of a weight at its kept blocks: x' dy over all samples, on tiles of 64 x 64. Sums over parts
/// of the samples first, then over the parts in their order, so that equal inputs give equal bits.
struct WeightGradient {
  WeightGradient(const Grid& grid, Operand type, int64_t kept_tiles, int64_t samples);

  Grid grid;
  Operand type;        // bf16 or half
  int64_t kept_tiles;  // at most so many tiles hold kept blocks
  int64_t samples;
  int parts;

  /// Sizes in bytes of what find_pairs and grad_weight write; both want 256-byte alignment.
  int64_t list_bytes() const;
  int64_t sum_bytes() const;
};

/// Most tiles that kept blocks can lie in at that density, for a grid that prefers_grad_weight.
int64_t gradient_tiles(const Grid& grid, double density);
/// Whether this is faster than the whole gradient: blocks that tiles of 64 x 64 fill, and few of them.
bool prefers_grad_weight(const Grid& grid, Operand type, double density);

/// Lists the tiles to compute.
void find_pairs(const WeightGradient& gradient, const uint8_t* support, void* lists, void* stream);

struct GradWeightCall {
  const void* x;   // [samples][grid.rows]
  const void* dy;  // [samples][grid.cols]
  const uint8_t* support;
  void* grad;  // [grid.cols][grid.rows]
  Source type;
  bool fill = true;  // with zeros outside of kept blocks; false: tiles without a kept block stay as they are
};
/// Both extents of the grid must be multiples of 8. Needs a GPU with compute capability 9.0.
void grad_weight(const WeightGradient& gradient, const void* lists, void* sums, const GradWeightCall& call,
                 void* stream);

}  // namespace hewn::kernels::cuda::block_sparse
