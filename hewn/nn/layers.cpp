#include "hewn/nn/layers.h"

#include <ATen/ops/im2col.h>

#include "hewn/nn/kept/conv.h"
#include "hewn/nn/kept/product.h"
#include "hewn/nn/sparse_conv.h"
#include "hewn/nn/sparse_linear.h"

namespace hewn::nn {

namespace {

/// The same extent in both directions, or nothing.
std::optional<int64_t> square(const torch::ExpandingArray<2>& extents) {
  return extents->at(0) == extents->at(1) ? std::optional(extents->at(0)) : std::nullopt;
}

std::shared_ptr<SparseLayer> sparse_form(const torch::nn::LinearImpl& /*linear*/,
                                         const std::shared_ptr<prune::SparseWeight>& blocks) {
  return std::make_shared<SparseLinear>(blocks);
}

std::shared_ptr<SparseLayer> sparse_form(const torch::nn::Conv2dImpl& conv,
                                         const std::shared_ptr<prune::SparseWeight>& blocks) {
  return std::make_shared<SparseConv>(blocks, geometry_of(conv).value());
}

/// The layer's product with kept blocks on a GPU.
at::Tensor on_kept(const torch::nn::LinearImpl& linear, const at::Tensor& input,
                   const prune::KeptBlocks& kept) {
  return kept_product(input, linear.weight, linear.bias, kept);
}

at::Tensor on_kept(const torch::nn::Conv2dImpl& conv, const at::Tensor& input,
                   const prune::KeptBlocks& kept) {
  return kept_conv(input, conv.weight, conv.bias, geometry_of(conv).value(), kept);
}

}  // namespace

bool has_kept_form(const torch::nn::LinearImpl& /*linear*/, const Grid& /*grid*/, at::ScalarType /*type*/) {
  return true;
}

bool has_kept_form(const torch::nn::Conv2dImpl& conv, const Grid& grid, at::ScalarType type) {
  const auto geometry = geometry_of(conv);
  return geometry && takes_kept_conv(grid, *geometry, type);
}

std::optional<kernels::ConvGeometry> geometry_of(const torch::nn::Conv2dImpl& conv) {
  const auto& options = conv.options;
  // Found by the argument's namespace: LibTorch's variant is its own in 1.13 and std's in 2.x.
  const auto* padding = get_if<torch::ExpandingArray<2>>(&options.padding());
  const bool zeros = get_if<torch::enumtype::kZeros>(&options.padding_mode()) != nullptr;
  if (options.groups() != 1 || padding == nullptr || !zeros) return std::nullopt;
  const auto pad = square(*padding);
  const auto stride = square(options.stride());
  const auto dilation = square(options.dilation());
  if (!pad || !stride || !dilation) return std::nullopt;
  return kernels::ConvGeometry{options.kernel_size()->at(0), options.kernel_size()->at(1), *stride, *pad,
                               *dilation};
}

template <class Dense>
at::Tensor OnBlocks<Dense>::forward(const at::Tensor& input) {
  input_shape_ = input.sizes().vec();
  if (see_) see_(input);
  if (kept_ != nullptr && takes_kept_blocks(input, this->weight) &&
      has_kept_form(*this, kept_->grid, compute_type(this->weight))) {
    return on_kept(*this, input, *kept_);
  }
  return sparse_ == nullptr ? Dense::forward(input) : sparse_->forward(input, this->bias);
}

template <class Dense>
void OnBlocks<Dense>::run_on(const std::shared_ptr<prune::SparseWeight>& blocks) {
  if (blocks == nullptr) {
    sparse_ = nullptr;
  } else if (sparse_ == nullptr || &sparse_->weight() != blocks.get()) {
    sparse_ = sparse_form(*this, blocks);
  }
}

template class OnBlocks<torch::nn::LinearImpl>;
template class OnBlocks<torch::nn::Conv2dImpl>;

at::Tensor input_rows(const torch::nn::LinearImpl& linear, const at::Tensor& input) {
  return input.reshape({-1, linear.options.in_features()});
}

at::Tensor input_rows(const torch::nn::Conv2dImpl& conv, const at::Tensor& input) {
  const kernels::ConvGeometry g = geometry_of(conv).value();
  // images x (channel, H, W) x positions
  const at::Tensor columns = at::im2col(input, {g.kernel_height, g.kernel_width}, {g.dilation, g.dilation},
                                        {g.padding, g.padding}, {g.stride, g.stride});
  const int64_t taps = g.taps();
  return columns.view({input.size(0), input.size(1), taps, columns.size(2)})
      .permute({0, 3, 2, 1})
      .reshape({-1, taps * input.size(1)});
}

}  // namespace hewn::nn
