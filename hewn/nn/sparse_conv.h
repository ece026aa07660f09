#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hewn/kernels/conv.h"
#include "hewn/nn/sparse_layer.h"

namespace hewn::nn {

/// A Conv2d layer on its kept blocks: images (batch, channels, height, width) in either memory order; the
/// result has the same order.
class SparseConv final : public SparseLayer {
 public:
  SparseConv(std::shared_ptr<prune::SparseWeight> weight, const kernels::ConvGeometry& geometry);

  at::Tensor forward(const at::Tensor& x, const at::Tensor& bias) override;
  at::Tensor product(const at::Tensor& x, const at::Tensor& values, const at::Tensor& bias) override;
  at::Tensor grad_input(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& values) override;
  at::Tensor grad_weight(const at::Tensor& x, const at::Tensor& dy) const override;

 private:
  kernels::ConvShape shape_for(const at::Tensor& x) const;

  kernels::ConvGeometry geometry_;
  // Made when first needed, for images of the size seen last.
  std::optional<kernels::Packed> forward_;
  kernels::ImageShape forward_in_;
  std::vector<kernels::InputGradient> backward_;
  kernels::ImageShape backward_in_;
};

}  // namespace hewn::nn
