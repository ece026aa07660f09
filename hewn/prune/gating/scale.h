#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "hewn/core/grid.h"

namespace hewn::prune {

/// A weight, what multiplies its blocks, and where results go; see block_scale. All tensors are in the memory
/// order that `layout` describes, those of one call on one device and of one type.
struct Scaled {
  at::Tensor weight;
  const void* gate = nullptr;  // of the weight's type, one for each block; null: 1
  at::Tensor active;           // undefined: all
  WeightLayout layout;
  at::Tensor out = {};  // of scale_blocks: the weight's type, or bf16 on a GPU
  at::Tensor grad_out = {};
  at::Tensor grad_weight = {};
  void* grad_gate = nullptr;  // null: not wanted
};

/// out = weight * gate * active. On a GPU all weights in one launch.
void scale_blocks(std::span<const Scaled> weights);
/// Writes grad_weight and grad_gate from grad_out.
void scale_blocks_backward(std::span<const Scaled> weights);

}  // namespace hewn::prune
