#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hewn/core/grid.h"

namespace hewn::prune {

/// How the blocks that stay are shared among the layers.
///   uniform  every layer keeps the same share of its blocks (the paper's)
///   erk      small layers keep more: density in proportion to (sum of extents) / (their product)
///   global   the best blocks of all layers together, as many as under uniform
///   bytes, flops, ms   likewise, up to a limit of what they cost: bytes and multiply-adds as a share of the
///            dense network's, milliseconds by a file of costs
enum class BudgetKind : uint8_t { kUniform, kErk, kGlobal, kBytes, kFlops, kMs };

struct Budget {
  BudgetKind kind = BudgetKind::kUniform;
  double limit = 0;

  /// Whether blocks of different layers compete.
  bool shared() const { return kind >= BudgetKind::kGlobal; }
  /// Whether a limit decides how many stay, rather than a sparsity.
  bool limited() const { return kind >= BudgetKind::kBytes; }
};

/// Reads "uniform", "erk", "global", "bytes=0.1", "flops=0.15" or "ms=4"; throws Error for anything else.
Budget parse_budget(const std::string& text);
std::string to_string(const Budget& budget);

/// What a layer costs, in whole units: bytes, multiply-adds or picoseconds. Whole, so that sums do not depend
/// on their order.
struct LayerCost {
  int64_t dense = 0;        // the layer as it is
  int64_t fixed = 0;        // pruned, whatever it keeps
  int64_t each = 0;         // per block
  int64_t per_element = 0;  // per element of a block

  int64_t of_block(const Grid& grid, int64_t block) const {
    return each + per_element * grid.elements_of(block);
  }
  int64_t of_all_blocks(const Grid& grid) const {
    return each * grid.blocks() + per_element * grid.elements();
  }
  /// The pruned layer with so many blocks, which have so many elements.
  int64_t of_kept(int64_t blocks, int64_t elements) const {
    return fixed + each * blocks + per_element * elements;
  }
};

constexpr double kPicoseconds = 1e9;  // in a millisecond

/// Measured times of a layer on some machine: dense, and over kept blocks as a straight line.
struct LayerTimes {
  std::string name;
  double dense_ms = 0;
  double fixed_ms = 0;
  double block_ms = 0;
  // What was timed, to tell another network or other data; 0: not known.
  int64_t blocks = 0;
  int64_t positions = 0;
};

/// Densities of the layers under erk, such that all keep `density` of their elements together: shapes as
/// LibTorch stores them.
std::vector<double> erk_densities(const std::vector<std::vector<int64_t>>& shapes, double density);

}  // namespace hewn::prune
