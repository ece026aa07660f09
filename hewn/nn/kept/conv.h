#pragma once

#include <ATen/core/Tensor.h>

#include "hewn/kernels/cuda/block_sparse/images/convolve.h"
#include "hewn/nn/kept/made.h"
#include "hewn/prune/kept_blocks.h"

namespace hewn::nn {

/// Whether kept_conv and PreparedConv know a convolution on such a grid, with numbers of that type.
bool takes_kept_conv(const Grid& grid, const kernels::ConvGeometry& geometry, at::ScalarType type);

/// A convolution on the kept blocks of its weight on a GPU, where takes_kept_blocks and takes_kept_conv say
/// so: differentiable in x, weight and bias, which may be undefined. Images and results are channels-last.
/// `weight` is whole, with zeros outside of the kept blocks, and so is its gradient, which cuDNN computes;
/// that of the input too where the convolution has strides. All work is queued whatever the support holds.
at::Tensor kept_conv(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                     const kernels::ConvGeometry& geometry, const prune::KeptBlocks& kept);

/// The same with a weight that stays as it is, without gradients: what depends on weight and support is made
/// once. For one stream: convolutions count their tasks in it.
class PreparedConv {
 public:
  /// `weight` is on a GPU, in the type that is multiplied.
  PreparedConv(const at::Tensor& weight, const kernels::ConvGeometry& geometry,
               const prune::KeptBlocks& kept);
  /// x is converted to the weight's type; the residual has it.
  at::Tensor operator()(const at::Tensor& x, const Finish& finish) const;

 private:
  at::ScalarType type_;
  kernels::ConvGeometry geometry_;
  kernels::cuda::block_sparse::Product product_;
  Made made_;
};

}  // namespace hewn::nn
