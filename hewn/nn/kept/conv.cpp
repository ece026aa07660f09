#include "hewn/nn/kept/conv.h"

#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include "hewn/nn/held.h"
#include "hewn/tensor/stream.h"
#include "hewn/tensor/torch_compat.h"

namespace hewn::nn {
namespace {

namespace block_sparse = kernels::cuda::block_sparse;
using kernels::ConvGeometry;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Images, or a weight, with their channels side by side.
at::Tensor channels_last(const at::Tensor& images) {
  return at_16(images.contiguous(at::MemoryFormat::ChannelsLast));
}

block_sparse::Product forward_product(const Grid& grid, const ConvGeometry& geometry, at::ScalarType type) {
  return {grid, operand_of(type), /*transposed=*/false, geometry.taps()};
}

at::Tensor convolve(const block_sparse::Product& product, const Made& made, const at::Tensor& x,
                    const ConvGeometry& geometry, const Finish& finish) {
  const block_sparse::Images images{x.size(0), x.size(2), x.size(3), geometry};
  at::Tensor out = at::empty({images.count, product.outputs(), images.out_height(), images.out_width()},
                             x.options(), at::MemoryFormat::ChannelsLast);
  block_sparse::convolve(product, images, made.lists.data_ptr(), made.values.data_ptr(),
                         call_of(x, images.out_pixels(), out, finish), tensor::current_stream(x));
  return out;
}

struct ConvOnKept {
  ConvGeometry geometry;
  prune::KeptBlocks kept;
};

/// What a backward pass needs, all channels-last.
struct Backward {
  const ConvOnKept& conv;
  at::Tensor x, weight, dy;

  block_sparse::Product product() const {
    return {conv.kept.grid, operand_of(dy.scalar_type()), /*transposed=*/true, conv.geometry.taps()};
  }
  bool has_input_kernel() const {
    return block_sparse::has_gradient_geometry(conv.geometry) &&
           block_sparse::takes_convolution(product(), block_sparse::gradient_geometry(conv.geometry));
  }
  at::Tensor input_on_kept() const {
    const block_sparse::Product turned = product();
    return convolve(turned, Made(turned, weight, conv.kept.support), dy,
                    block_sparse::gradient_geometry(conv.geometry), {});
  }
  /// Gradients of input and weight as cuDNN computes them.
  std::pair<at::Tensor, at::Tensor> whole(bool of_input, bool of_weight) const {
    if (!of_input && !of_weight) return {};
    const ConvGeometry& g = conv.geometry;
    const auto [dx, dw, db] =
        at::convolution_backward(dy, x, weight, {}, {g.stride, g.stride}, {g.padding, g.padding},
                                 {g.dilation, g.dilation}, false, {0, 0}, 1, {of_input, of_weight, false});
    return {dx, dw};
  }
};

struct OnKeptBlocksOfImages : torch::autograd::Function<OnKeptBlocksOfImages> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const TorchOptional<at::Tensor>& bias, const ConvOnKept& conv) {
    context->saved_data["conv"] = hold(conv);
    context->saved_data["has_bias"] = bias.has_value();
    context->save_for_backward({x, weight});
    const auto product = forward_product(conv.kept.grid, conv.geometry, x.scalar_type());
    return convolve(product, Made(product, weight, conv.kept.support), x, conv.geometry,
                    {single_bias(bias.value_or(at::Tensor()))});
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const auto conv = held<ConvOnKept>(context->saved_data["conv"]);
    const Backward of{conv, saved[0], saved[1], channels_last(grads[0].to(saved[0].scalar_type()))};
    const bool wants_input = context->needs_input_grad(0);
    const bool wants_weight = context->needs_input_grad(1);
    const bool input_on_kept = wants_input && of.has_input_kernel();
    auto [dx, grad_weight] = of.whole(wants_input && !input_on_kept, wants_weight);
    if (input_on_kept) dx = of.input_on_kept();
    at::Tensor grad_bias;
    if (context->saved_data["has_bias"].toBool()) grad_bias = of.dy.sum({0, 2, 3}, false, at::kFloat);
    return {dx, grad_weight, grad_bias, at::Tensor()};
  }
};

}  // namespace

bool takes_kept_conv(const Grid& grid, const ConvGeometry& geometry, at::ScalarType type) {
  return block_sparse::takes_convolution(forward_product(grid, geometry, type), geometry);
}

at::Tensor kept_conv(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                     const ConvGeometry& geometry, const prune::KeptBlocks& kept) {
  const at::ScalarType type = compute_type(weight);
  const auto given = bias.defined() ? TorchOptional<at::Tensor>(bias) : TorchOptional<at::Tensor>();
  return OnKeptBlocksOfImages::apply(channels_last(x.to(type)), channels_last(weight.to(type)), given,
                                     ConvOnKept{geometry, kept});
}

PreparedConv::PreparedConv(const at::Tensor& weight, const ConvGeometry& geometry,
                           const prune::KeptBlocks& kept)
    : type_(weight.scalar_type()),
      geometry_(geometry),
      product_(forward_product(kept.grid, geometry, type_)),
      made_(product_, channels_last(weight), kept.support) {}

at::Tensor PreparedConv::operator()(const at::Tensor& x, const Finish& finish) const {
  Finish whole{single_bias(finish.bias), finish.residual, finish.relu};
  if (whole.residual.defined()) whole.residual = channels_last(whole.residual);
  return convolve(product_, made_, channels_last(x.to(type_)), geometry_, whole);
}

}  // namespace hewn::nn
