#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hewn/core/grid.h"
#include "hewn/refit/layers.h"

namespace hewn::refit {

/// A layer's outputs as a quadratic function of its weights B, up to a constant:
///   1/2 sum over outputs k of importance_k^2 (B_k' H B_k - 2 B_k' T_k).
/// H is positive definite: ridge pulls the weights to those that the layer had.
struct Quadratic {
  Matrix h;  // p x p
  Matrix t;  // p x K
  Vector importance;
  Grid grid;
};

/// 0 or 1 for every block.
using Flags = std::vector<uint8_t>;

/// Blocks with a weight that is not zero.
Flags nonzero_blocks(const Matrix& weight, const Grid& grid);
/// The `keep` blocks of those with the largest norm; ties go to the lowest number.
Flags largest_blocks(const Matrix& weight, const Grid& grid, int64_t keep);

/// Drops blocks one by one until `keep` of `candidates` are left: every time the one whose absence, all
/// others fitted anew, costs least. That is orthogonal matching pursuit, walked from the whole layer down.
Flags pursue(const Quadratic& problem, const Flags& candidates, int64_t keep, int threads);

/// The best weights that are zero outside these blocks.
Matrix fit(const Quadratic& problem, const Flags& kept, int threads);

}  // namespace hewn::refit
