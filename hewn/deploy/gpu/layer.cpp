#include "hewn/deploy/gpu/layer.h"

#include <ATen/Context.h>
#include <ATen/ops/_addmm_activation.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cudnn_convolution_add_relu.h>
#include <ATen/ops/cudnn_convolution_relu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <exception>
#include <memory>

#include "hewn/deploy/gpu/paired_conv.h"
#include "hewn/measure/dense_graph.h"
#include "hewn/nn/kept/conv.h"
#include "hewn/nn/kept/product.h"
#include "hewn/prune/execution.h"
#include "hewn/prune/support.h"

namespace hewn::deploy {
namespace {

using runtime::Op;

/// The kept blocks of an exported layer, on the device.
prune::KeptBlocks kept_blocks(const kernels::BsrPattern& pattern, c10::Device device) {
  std::vector<uint8_t> flags(static_cast<size_t>(pattern.grid.blocks()));
  for (int64_t col = 0; col < pattern.grid.col_blocks(); ++col) {
    for (int64_t i = pattern.begin[static_cast<size_t>(col)]; i < pattern.begin[static_cast<size_t>(col) + 1];
         ++i) {
      flags[static_cast<size_t>(pattern.row[static_cast<size_t>(i)] * pattern.grid.col_blocks() + col)] = 1;
    }
  }
  const LayerBlocks blocks = LayerBlocks::of_flags(pattern.grid, flags);
  return {pattern.grid, prune::support_of(blocks).to(device), blocks.density()};
}

/// 1x1 convolutions with more outputs than inputs, and a sum: bound by what they write and add. cuDNN in one
/// pass took 0.06 to 0.26 ms in ResNet-50 at batch 256, kept blocks of 64 at density 0.1 took 0.06 to 0.35.
bool expands_and_adds(const runtime::Node& node, const Grid& grid, const Finish& finish) {
  return finish.residual && node.window.taps() == 1 && grid.cols > grid.rows;
}

bool runs_on_kept(const runtime::Node& node, const runtime::Layer& layer, const Finish& finish,
                  const FusedOptions& options) {
  const Grid& grid = layer.pattern.grid;
  const int64_t kept = layer.pattern.kept();
  if (options.kept == KeptLayers::kNone || !options.device.is_cuda() || kept == grid.blocks()) return false;
  if (kernels::cuda::block_sparse::architecture() < 80) return false;
  if (options.type == at::kFloat && !at::globalContext().allowTF32CuBLAS()) return false;
  const bool conv = node.op == Op::kConv2d;
  if (conv && !nn::takes_kept_conv(grid, node.window, options.type)) return false;
  if (options.kept == KeptLayers::kAll) return true;
  if (conv && options.tuned && expands_and_adds(node, grid, finish)) return false;
  const double limit =
      conv ? prune::usual_conv_inference_limit_on_device(grid) : prune::usual_inference_limit_on_device(grid);
  return static_cast<double>(kept) <= limit * static_cast<double>(grid.blocks());
}

at::Tensor finished(const at::Tensor& y, const at::Tensor& residual, bool relu) {
  if (residual.defined()) y.add_(residual);
  return relu ? y.relu_() : y;
}

FusedLayer dense_linear(const at::Tensor& weight, const at::Tensor& bias, bool relu) {
  return {[=](const at::Tensor& x, const at::Tensor& residual) {
    if (relu && !residual.defined()) return at::_addmm_activation(bias, x, weight.t());
    return finished(at::linear(x, weight, bias), residual, relu);
  }};
}

/// cuDNN's convolution with bias, sum and ReLU in one pass, which it does not have for every shape.
class OnePassConv {
 public:
  OnePassConv(const at::Tensor& weight, const at::Tensor& bias, const kernels::ConvGeometry& g)
      : weight_(weight),
        bias_(bias),
        stride_(2, g.stride),
        padding_(2, g.padding),
        dilation_(2, g.dilation) {}

  /// Nothing where cuDNN cannot.
  at::Tensor operator()(const at::Tensor& x, const at::Tensor& residual) {
    if (refused_) return {};
    try {
      if (!residual.defined()) {
        return at::cudnn_convolution_relu(x, weight_, bias_, stride_, padding_, dilation_, 1);
      }
      return at::cudnn_convolution_add_relu(x, weight_, residual, 1.0, bias_, stride_, padding_, dilation_,
                                            1);
    } catch (const c10::OutOfMemoryError&) {
      throw;  // has room another time
    } catch (const std::exception&) {
      refused_ = true;
      return {};
    }
  }

 private:
  at::Tensor weight_, bias_;
  std::vector<int64_t> stride_, padding_, dilation_;
  bool refused_ = false;
};

FusedLayer dense_conv(const at::Tensor& weight, const at::Tensor& bias, const kernels::ConvGeometry& g,
                      bool relu, bool one_pass) {
  const auto fused = one_pass && relu ? std::make_shared<OnePassConv>(weight, bias, g) : nullptr;
  return {[=](const at::Tensor& x, const at::Tensor& residual) {
    at::Tensor y = fused ? (*fused)(x, residual) : at::Tensor();
    if (y.defined()) return y;
    y = at::conv2d(x, weight, bias, {g.stride, g.stride}, {g.padding, g.padding}, {g.dilation, g.dilation});
    return finished(y, residual, relu);
  }};
}

FusedLayer tuned_conv(const at::Tensor& weight, const at::Tensor& bias, const kernels::ConvGeometry& g,
                      bool relu) {
  const bool one_pass = weight.is_cuda();
  FusedLayer plain = dense_conv(weight, bias, g, relu, one_pass);
  if (!PairedConv::takes(weight, g)) return plain;
  const auto paired = std::make_shared<const PairedConv>(weight, g);
  const int64_t taps = paired->weight().size(2);
  const FusedLayer squares = dense_conv(paired->weight(), bias, {taps, taps}, relu, one_pass);
  return {[=](const at::Tensor& x, const at::Tensor& residual) {
    const bool even = x.size(2) % 2 == 0 && x.size(3) % 2 == 0;
    return even ? squares.run(paired->squares(x), residual) : plain.run(x, residual);
  }};
}

template <class Prepared>
FusedLayer on_kept(const Prepared& prepared, const at::Tensor& bias, bool relu) {
  return {[=](const at::Tensor& x, const at::Tensor& residual) {
            return prepared(x, {bias, residual, relu});
          },
          true};
}

}  // namespace

FusedLayer make_layer(const runtime::Node& node, const runtime::Layer& layer, const Finish& finish,
                      const FusedOptions& options) {
  const bool relu = finish.relu;
  const bool conv = node.op == Op::kConv2d;
  at::Tensor weight = measure::dense_weight(node, layer).to(options.device, options.type);
  if (conv) weight = weight.contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor bias = at::tensor(layer.bias).to(options.device);
  if (runs_on_kept(node, layer, finish, options)) {
    const prune::KeptBlocks kept = kept_blocks(layer.pattern, options.device);
    return conv ? on_kept(nn::PreparedConv(weight, node.window, kept), bias, relu)
                : on_kept(nn::PreparedProduct(weight, kept), bias, relu);
  }
  const at::Tensor own_bias = bias.to(options.type);
  if (!conv) return dense_linear(weight, own_bias, relu);
  return options.tuned ? tuned_conv(weight, own_bias, node.window, relu)
                       : dense_conv(weight, own_bias, node.window, relu, /*one_pass=*/false);
}

}  // namespace hewn::deploy
