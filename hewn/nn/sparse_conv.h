#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "hewn/kernels/conv.h"
#include "hewn/prune/sparse_weight.h"

namespace hewn::nn {

/// A Conv2d layer on the kept blocks of its weight, like SparseLinear.
class SparseConv {
 public:
  SparseConv(std::shared_ptr<prune::SparseWeight> weight, const kernels::ConvGeometry& geometry);

  const prune::SparseWeight& weight() const { return *weight_; }

  /// The convolution of images (batch, channels, height, width) in either memory order; the result has the
  /// same order. Differentiable in x, bias and the weight's gate.
  static at::Tensor forward(const std::shared_ptr<SparseConv>& layer, const at::Tensor& x,
                            const at::Tensor& bias);

  // The three products, on images in one of the two memory orders.
  at::Tensor product(const at::Tensor& x, const at::Tensor& values, const at::Tensor& bias);
  at::Tensor grad_input(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& values);
  at::Tensor grad_weight(const at::Tensor& x, const at::Tensor& dy) const;

  /// See SparseWeight::backward.
  at::Tensor take_gradient(const at::Tensor& grad_values, const at::Tensor& gate);

 private:
  kernels::ConvShape shape_for(const at::Tensor& x) const;

  std::shared_ptr<prune::SparseWeight> weight_;
  kernels::ConvGeometry geometry_;
  // Made when first needed, for images of the size seen last.
  std::optional<kernels::Packed> forward_;
  kernels::ImageShape forward_in_;
  std::vector<kernels::InputGradient> backward_;
  kernels::ImageShape backward_in_;
};

}  // namespace hewn::nn
