#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "hewn/kernels/packed.h"
#include "hewn/prune/sparse_weight.h"

namespace hewn::nn {

/// A layer on the kept blocks of its weight: forward pass and both gradients cost what is kept. Kinds of
/// layers differ in how their three products are made; what autograd wants besides is written here.
class SparseLayer : public std::enable_shared_from_this<SparseLayer> {
 public:
  explicit SparseLayer(std::shared_ptr<prune::SparseWeight> weight) : weight_(std::move(weight)) {}
  virtual ~SparseLayer() = default;

  const prune::SparseWeight& weight() const { return *weight_; }

  /// What the dense layer gives, differentiable in x, bias and the weight's gate; the weight's own gradient
  /// goes to weight().grad(). `bias` may be undefined.
  virtual at::Tensor forward(const at::Tensor& x, const at::Tensor& bias) = 0;

  // The three products. Samples are the first dimension and features the second; x and dy lie in the same
  // memory order. `values` are the weight's.
  virtual at::Tensor product(const at::Tensor& x, const at::Tensor& values, const at::Tensor& bias) = 0;
  virtual at::Tensor grad_input(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& values) = 0;
  virtual at::Tensor grad_weight(const at::Tensor& x, const at::Tensor& dy) const = 0;

  /// See SparseWeight::backward.
  at::Tensor take_gradient(const at::Tensor& grad_values, const at::Tensor& gate) {
    return weight_->backward(grad_values, gate);
  }

 protected:
  /// product() for autograd, with an x that is in one of the two memory orders.
  at::Tensor differentiable_product(const at::Tensor& x, const at::Tensor& bias);

 private:
  std::shared_ptr<prune::SparseWeight> weight_;
};

/// Images whose channels lie together; false where both memory orders are one.
bool is_channels_last(const at::Tensor& images);

/// Copies values into a packed weight on all threads.
void fill(kernels::Packed& packed, const at::Tensor& values);

}  // namespace hewn::nn
