#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hewn/core/blocks.h"
#include "hewn/prune/budget.h"

namespace hewn::prune {

/// A prunable weight by name and shape (as LibTorch stores it), before any decision.
struct WeightShape {
  std::string name;
  std::vector<int64_t> shape;
  Grid grid;              // its block is set by the plan
  int64_t positions = 0;  // how often one sample meets the weight; 0: not known
};

struct PlanOptions {
  BlockShape block;
  double sparsity = 0.9;
  int64_t min_blocks = 100;                 // layers with fewer are left dense
  std::vector<std::string> layers = {"*"};  // name patterns of the layers that may be pruned
  std::vector<std::string> except = {};     // and of those that may not
  Rounding rounding = Rounding::kDown;
  Budget budget = {};
  std::vector<LayerTimes> times = {};  // what a budget of milliseconds counts by
};

/// What would be pruned: one row per prunable weight.
struct LayerPlan {
  std::string name;
  std::vector<int64_t> shape;
  Grid grid;
  int64_t keep = 0;
  bool pruned = false;
  std::string why_dense;  // where it is not pruned
  LayerCost cost = {};    // under a budget with a limit
  int64_t positions = 0;  // how often one sample meets the weight; 0: not known

  int64_t elements() const { return grid.elements(); }
  /// Multiply-adds of one sample, dense.
  int64_t products() const { return elements() * positions; }
  double realised_sparsity() const {
    return pruned ? 1.0 - static_cast<double>(keep) / static_cast<double>(grid.blocks()) : 0.0;
  }
};

struct Plan {
  PlanOptions options;  // under a budget with a limit the sparsity is the one that meets it
  std::vector<LayerPlan> layers;
  int64_t limit = 0;  // under such a budget: what the kept blocks of pruned layers may cost in all

  int64_t layers_pruned() const;
  int64_t blocks_kept() const;   // over the pruned layers
  int64_t blocks_total() const;  // over the pruned layers
  /// Zeros over all elements of prunable weights, layers left dense included.
  double realised_sparsity() const;
};

/// Throws Error where the sparsity is outside [0, 1), where the block is larger than every layer, where a
/// pattern names no layer, or where a budget's limit cannot be met.
Plan make_plan(const std::vector<WeightShape>& weights, const PlanOptions& options);

/// The plan of a network whose kept blocks are known: layers that `support` does not name are dense. Throws
/// Error for a layer that is not there or that has another grid.
Plan plan_of(const std::vector<WeightShape>& weights, const Blocks& support);

/// Bytes of a weight in block-compressed form: values of the kept blocks, a 32-bit index each, and one offset
/// per block column.
int64_t sparse_bytes(const Grid& grid, int64_t kept_blocks, int64_t kept_elements);

}  // namespace hewn::prune
