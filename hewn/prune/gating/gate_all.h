#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "hewn/core/grid.h"
#include "hewn/prune/score/score.h"

namespace hewn::prune {

/// One of many weights that are gated together. The gate is a leaf, or attention that is computed on the way
/// (on a GPU), or 1.
struct ToGate {
  at::Tensor weight;
  at::Tensor active;
  WeightLayout layout;
  at::Tensor gate = {};
  std::optional<ClampedAttention> attention = {};

  bool has_gate() const { return gate.defined() || attention.has_value(); }
};

/// block_scale for many weights on one device, as one step of autograd and with the same bits: on a GPU one
/// launch forward and one backward, and one more each for attention. A backward pass that reaches some of
/// them gives gradients to those alone, and others may follow.
std::vector<at::Tensor> block_scale(std::vector<ToGate> weights, bool bf16);

}  // namespace hewn::prune
