#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "hewn/core/grid.h"
#include "hewn/tensor/reused.h"

namespace hewn::prune {

/// What a layer's gate writes in every step.
struct GateMemory : torch::CustomClassHolder {
  tensor::Reused shown;
  tensor::Reused gradient;
};

/// The gate: a differentiable block-wise product, fused into one pass forward and one pass backward.
///
/// `weight` is in the memory order that `layout` describes; `gate` (one value per block) may be undefined,
/// which means 1; `active` (uint8 per block) may be undefined, which means all. Blocks that are not active
/// give exact zeros and pass no gradient, neither to the weight nor to the gate. On a GPU the product may
/// come in bf16, rounded once, which saves the pass that would convert it. On the CPU `memory`, where given,
/// holds product and gradient from step to step.
at::Tensor block_scale(const at::Tensor& weight, const at::Tensor& gate, const at::Tensor& active,
                       const WeightLayout& layout, bool bf16 = false,
                       const c10::intrusive_ptr<GateMemory>& memory = {});

/// Frobenius norm of every block, differentiable; the gradient at a block of zeros is zero.
at::Tensor block_norms(const at::Tensor& weight, const WeightLayout& layout);

/// The sum over every block of the products of two tensors in the memory order that `layout` describes; no
/// gradient. On a GPU the second may be of bf16.
at::Tensor block_dots(const at::Tensor& a, const at::Tensor& b, const WeightLayout& layout);

/// The layout of a weight tensor on a grid of `block`s: out x in for Linear, O,I,W for Conv1d and O,I,H,W for
/// Conv2d, contiguous or channels-last. An embedding's table, entries x numbers, is read as out x in. The
/// outputs of different groups share no block. Throws Error for other ranks and strides.
WeightLayout layout_of(const at::Tensor& weight, BlockShape block, int64_t groups = 1);
/// The same for a grid that is known.
inline WeightLayout layout_on(const at::Tensor& weight, const Grid& grid) {
  return layout_of(weight, grid.block, grid.groups);
}

}  // namespace hewn::prune
