#include "hewn/nn/layers.h"

#include <ATen/ops/im2col.h>

#include "hewn/nn/sparse_conv.h"
#include "hewn/nn/sparse_linear.h"

namespace hewn::nn {

namespace {

/// The same extent in both directions, or nothing.
std::optional<int64_t> square(const torch::ExpandingArray<2>& extents) {
  return extents->at(0) == extents->at(1) ? std::optional(extents->at(0)) : std::nullopt;
}

}  // namespace

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

at::Tensor LinearImpl::forward(const at::Tensor& input) {
  input_shape_ = input.sizes().vec();
  if (see_) see_(input);
  return sparse_ == nullptr ? torch::nn::LinearImpl::forward(input)
                            : SparseLinear::forward(sparse_, input, bias);
}

void LinearImpl::run_on(const std::shared_ptr<prune::SparseWeight>& blocks) {
  if (blocks == nullptr) {
    sparse_ = nullptr;
  } else if (sparse_ == nullptr || &sparse_->weight() != blocks.get()) {
    sparse_ = std::make_shared<SparseLinear>(blocks);
  }
}

at::Tensor Conv2dImpl::forward(const at::Tensor& input) {
  input_shape_ = input.sizes().vec();
  if (see_) see_(input);
  return sparse_ == nullptr ? torch::nn::Conv2dImpl::forward(input)
                            : SparseConv::forward(sparse_, input, bias);
}

void Conv2dImpl::run_on(const std::shared_ptr<prune::SparseWeight>& blocks) {
  if (blocks == nullptr) {
    sparse_ = nullptr;
  } else if (sparse_ == nullptr || &sparse_->weight() != blocks.get()) {
    sparse_ = std::make_shared<SparseConv>(blocks, geometry_of(*this).value());
  }
}

at::Tensor input_rows(const torch::nn::LinearImpl& linear, const at::Tensor& input) {
  return input.reshape({-1, linear.options.in_features()});
}

at::Tensor input_rows(const torch::nn::Conv2dImpl& conv, const at::Tensor& input) {
  const kernels::ConvGeometry g = geometry_of(conv).value();
  // images x (channel, H, W) x places
  const at::Tensor columns = at::im2col(input, {g.kernel_height, g.kernel_width}, {g.dilation, g.dilation},
                                        {g.padding, g.padding}, {g.stride, g.stride});
  const int64_t taps = g.taps();
  return columns.view({input.size(0), input.size(1), taps, columns.size(2)})
      .permute({0, 3, 2, 1})
      .reshape({-1, taps * input.size(1)});
}

}  // namespace hewn::nn
