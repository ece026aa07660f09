#pragma once

#include <ATen/core/Tensor.h>

#include "hewn/prune/kept_blocks.h"

namespace hewn::nn {

/// Whether kept_product can take this input and weight: on a GPU, in bf16 or half, or in single precision
/// where LibTorch may use TF32.
bool takes_kept_blocks(const at::Tensor& x, const at::Tensor& weight);

/// x W' + bias on the kept blocks of a Linear layer's weight on a GPU, differentiable in all three. `weight`
/// is whole, with zeros outside of the kept blocks, and so is its gradient; `bias` may be undefined. All work
/// is queued whatever the support holds: it can be recorded and repeated with another one.
at::Tensor kept_product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                        const prune::KeptBlocks& kept);

}  // namespace hewn::nn
