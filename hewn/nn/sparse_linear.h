#pragma once

#include <memory>
#include <optional>

#include "hewn/nn/sparse_layer.h"

namespace hewn::nn {

/// A Linear layer on its kept blocks: x W' + bias, where x is (batch..., in). The products take matrices of
/// samples.
class SparseLinear final : public SparseLayer {
 public:
  using SparseLayer::SparseLayer;

  at::Tensor forward(const at::Tensor& x, const at::Tensor& bias) override;
  at::Tensor product(const at::Tensor& x, const at::Tensor& values, const at::Tensor& bias) override;
  at::Tensor grad_input(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& values) override;
  at::Tensor grad_weight(const at::Tensor& x, const at::Tensor& dy) const override;

 private:
  std::optional<kernels::Packed> forward_;  // made when first needed
  std::optional<kernels::Packed> transposed_;
};

}  // namespace hewn::nn
