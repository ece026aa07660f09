#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "hewn/prune/kept_blocks.h"
#include "hewn/prune/sparse_weight.h"

namespace hewn::prune {

/// Is shown the inputs of a layer, as the layer gets them.
using SeeInput = std::function<void(const at::Tensor& input)>;

/// A weight that can be gated: the registered leaf parameter, and a way to say what the forward pass sees.
struct WeightSlot {
  std::string name;
  at::Tensor leaf;
  std::function<void(const at::Tensor&)> set;
  /// Runs the layer on kept blocks only; empty where its module cannot.
  std::function<void(const std::shared_ptr<SparseWeight>&)> set_sparse = {};
  /// Says on which blocks of the weight that was set last the layer runs, on a GPU; empty where its module
  /// cannot.
  std::function<void(const std::shared_ptr<const KeptBlocks>&)> set_kept = {};
  /// Whether it can do that with blocks of that grid, in bf16; empty where set_kept is.
  std::function<bool(const Grid& grid)> takes_kept = {};
  /// Shows the input of every forward pass, until it is given null; empty where its module cannot.
  std::function<void(const SeeInput&)> watch = {};
  /// An input as rows x, such that the layer computes x W with its weight as a matrix of blocks. Empty where
  /// `watch` is.
  std::function<at::Tensor(const at::Tensor& input)> rows = {};
  /// Parts of its outputs that share no block.
  int64_t groups = 1;
};

}  // namespace hewn::prune
