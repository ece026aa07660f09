#pragma once

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hewn/kernels/packed.h"
#include "hewn/prune/weight_slot.h"

namespace hewn::nn {

class SparseLayer;

/// What the kernels need to know of a convolution; nothing where they cannot run it: with groups, padding
/// other than zeros, or stride, padding or dilation that differ between the two directions.
std::optional<kernels::ConvGeometry> geometry_of(const torch::nn::Conv2dImpl& conv);

/// Whether a layer can run on kept blocks of such a grid on a GPU, with numbers of that type.
bool has_kept_form(const torch::nn::LinearImpl& linear, const Grid& grid, at::ScalarType type);
bool has_kept_form(const torch::nn::Conv2dImpl& conv, const Grid& grid, at::ScalarType type);

/// A layer of LibTorch that can also run on the kept blocks of its weight. State dict and options are the
/// same.
template <class Dense>
class OnBlocks : public Dense {
 public:
  using Dense::Dense;
  at::Tensor forward(const at::Tensor& input);
  /// Null: runs dense, on `weight`.
  void run_on(const std::shared_ptr<prune::SparseWeight>& blocks);
  /// Runs on these blocks of `weight` where input and weight lie on a GPU and it has such a form; null: on
  /// the whole of it.
  void run_on_kept(const std::shared_ptr<const prune::KeptBlocks>& kept) { kept_ = kept; }
  /// Of the last forward pass.
  const std::vector<int64_t>& input_shape() const { return input_shape_; }
  /// Shows `see` the input of every forward pass; null: no longer.
  void watch(prune::SeeInput see) { see_ = std::move(see); }

 private:
  std::shared_ptr<SparseLayer> sparse_;
  std::shared_ptr<const prune::KeptBlocks> kept_;
  std::vector<int64_t> input_shape_;
  prune::SeeInput see_;
};
extern template class OnBlocks<torch::nn::LinearImpl>;
extern template class OnBlocks<torch::nn::Conv2dImpl>;

class LinearImpl : public OnBlocks<torch::nn::LinearImpl> {
 public:
  using OnBlocks::OnBlocks;
};
TORCH_MODULE(Linear);

/// Without a geometry_of it always runs dense.
class Conv2dImpl : public OnBlocks<torch::nn::Conv2dImpl> {
 public:
  using OnBlocks::OnBlocks;
};
TORCH_MODULE(Conv2d);

/// The rows x for which the layer computes x W + bias, W being its weight as a matrix of blocks: the vectors
/// of a Linear layer's input; what a convolution's kernel covers at each position, in H, W, channel order.
at::Tensor input_rows(const torch::nn::LinearImpl& linear, const at::Tensor& input);
at::Tensor input_rows(const torch::nn::Conv2dImpl& conv, const at::Tensor& input);

}  // namespace hewn::nn
