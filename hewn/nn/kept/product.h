#pragma once

#include <ATen/core/Tensor.h>

#include "hewn/kernels/cuda/block_sparse/block_sparse.h"
#include "hewn/nn/kept/made.h"
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

/// kept_product with a weight that stays as it is, without gradients: what depends on weight and support is
/// made once. For one stream: products count their tasks in it.
class PreparedProduct {
 public:
  /// `weight` is on a GPU, in bf16, half or single precision, which is what is multiplied.
  PreparedProduct(const at::Tensor& weight, const prune::KeptBlocks& kept);
  /// x is converted to the weight's type; the residual has it.
  at::Tensor operator()(const at::Tensor& x, const Finish& finish) const;

 private:
  at::ScalarType type_;
  kernels::cuda::block_sparse::Product product_;
  Made made_;
};

}  // namespace hewn::nn
