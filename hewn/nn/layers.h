#pragma once

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hewn/kernels/packed.h"
#include "hewn/prune/pruner.h"

namespace hewn::nn {

class SparseConv;
class SparseLinear;

/// What the kernels need to know of a convolution; nothing where they cannot run it: with groups, padding
/// other than zeros, or stride, padding or dilation that differ between the two directions.
std::optional<kernels::ConvGeometry> geometry_of(const torch::nn::Conv2dImpl& conv);

/// torch::nn::Linear that can also run on the kept blocks of its weight. State dict and options are the same.
class LinearImpl : public torch::nn::LinearImpl {
 public:
  using torch::nn::LinearImpl::LinearImpl;
  at::Tensor forward(const at::Tensor& input);
  /// Null: runs dense, on `weight`.
  void run_on(const std::shared_ptr<prune::SparseWeight>& blocks);
  /// Of the last forward pass.
  const std::vector<int64_t>& input_shape() const { return input_shape_; }
  /// Shows `see` the input of every forward pass; null: no longer.
  void watch(prune::SeeInput see) { see_ = std::move(see); }

 private:
  std::shared_ptr<SparseLinear> sparse_;
  std::vector<int64_t> input_shape_;
  prune::SeeInput see_;
};
TORCH_MODULE(Linear);

/// The same for torch::nn::Conv2d. Without a geometry_of it always runs dense.
class Conv2dImpl : public torch::nn::Conv2dImpl {
 public:
  using torch::nn::Conv2dImpl::Conv2dImpl;
  at::Tensor forward(const at::Tensor& input);
  void run_on(const std::shared_ptr<prune::SparseWeight>& blocks);
  const std::vector<int64_t>& input_shape() const { return input_shape_; }
  void watch(prune::SeeInput see) { see_ = std::move(see); }

 private:
  std::shared_ptr<SparseConv> sparse_;
  std::vector<int64_t> input_shape_;
  prune::SeeInput see_;
};
TORCH_MODULE(Conv2d);

/// The rows x for which the layer computes x W + bias, W being its weight as a matrix of blocks: the vectors
/// of a Linear layer's input; what a convolution's kernel covers at each place, in H, W, channel order.
at::Tensor input_rows(const torch::nn::LinearImpl& linear, const at::Tensor& input);
at::Tensor input_rows(const torch::nn::Conv2dImpl& conv, const at::Tensor& input);

}  // namespace hewn::nn
