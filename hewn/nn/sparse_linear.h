#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

#include "hewn/kernels/packed.h"
#include "hewn/prune/sparse_weight.h"

namespace hewn::nn {

/// A Linear layer on the kept blocks of its weight: forward pass and both gradients cost what is kept.
class SparseLinear {
 public:
  explicit SparseLinear(std::shared_ptr<prune::SparseWeight> weight);

  const prune::SparseWeight& weight() const { return *weight_; }

  /// x W' + bias, differentiable in x, bias and the weight's gate; the weight's own gradient goes to
  /// weight.grad(). x is (batch..., in); bias may be undefined.
  static at::Tensor forward(const std::shared_ptr<SparseLinear>& layer, const at::Tensor& x,
                            const at::Tensor& bias);

  // The three products, on contiguous matrices of samples.
  at::Tensor product(const at::Tensor& x, const at::Tensor& values, const at::Tensor& bias);
  at::Tensor grad_input(const at::Tensor& dy, const at::Tensor& values);
  at::Tensor grad_weight(const at::Tensor& x, const at::Tensor& dy) const;

  /// See SparseWeight::backward.
  at::Tensor take_gradient(const at::Tensor& grad_values, const at::Tensor& gate);

 private:
  std::shared_ptr<prune::SparseWeight> weight_;
  std::optional<kernels::Packed> forward_;  // made when first needed
  std::optional<kernels::Packed> transposed_;
};

}  // namespace hewn::nn
