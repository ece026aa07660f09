#include "hewn/nn/sparse_layer.h"

#include <ATen/Parallel.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <algorithm>

#include "hewn/nn/held.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/torch_compat.h"

namespace hewn::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// LibTorch's Function takes no undefined tensors.
TorchOptional<at::Tensor> optional_of(const at::Tensor& tensor) {
  return tensor.defined() ? TorchOptional<at::Tensor>(tensor) : TorchOptional<at::Tensor>();
}

at::Tensor bias_gradient(const at::Tensor& dy) { return dy.dim() == 4 ? dy.sum({0, 2, 3}) : dy.sum(0); }

struct OnKeptBlocks : torch::autograd::Function<OnKeptBlocks> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const TorchOptional<at::Tensor>& gate, const TorchOptional<at::Tensor>& bias,
                            const std::shared_ptr<SparseLayer>& layer) {
    const at::Tensor values = layer->weight().values();
    context->saved_data["layer"] = hold(layer);
    context->saved_data["has_bias"] = bias.has_value();
    context->save_for_backward({x, values, gate.value_or(at::Tensor())});
    return layer->product(x, values, bias.value_or(at::Tensor()));
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const auto layer = held<std::shared_ptr<SparseLayer>>(context->saved_data["layer"]);
    const at::Tensor& x = saved[0];
    const at::Tensor dy = grads[0].contiguous(is_channels_last(x) ? at::MemoryFormat::ChannelsLast
                                                                  : at::MemoryFormat::Contiguous);
    const at::Tensor dx = context->needs_input_grad(0) ? layer->grad_input(x, dy, saved[1]) : at::Tensor();
    const at::Tensor grad_gate = layer->take_gradient(layer->grad_weight(x, dy), saved[2]);
    const at::Tensor grad_bias = context->saved_data["has_bias"].toBool() ? bias_gradient(dy) : at::Tensor();
    return {dx, grad_gate, grad_bias, at::Tensor()};
  }
};

}  // namespace

at::Tensor SparseLayer::differentiable_product(const at::Tensor& x, const at::Tensor& bias) {
  return OnKeptBlocks::apply(x, optional_of(weight_->gate), optional_of(bias), shared_from_this());
}

bool is_channels_last(const at::Tensor& images) {
  return !images.is_contiguous() && images.is_contiguous(at::MemoryFormat::ChannelsLast);
}

void fill(kernels::Packed& packed, const at::Tensor& values) {
  const int64_t tiles = std::max<int64_t>(1, packed.tile_count());
  const int64_t grain =
      std::max<int64_t>(1, tensor::kGrain * tiles / std::max<int64_t>(1, packed.products()));
  at::parallel_for(0, packed.tile_count(), grain,
                   [&](int64_t begin, int64_t end) { packed.fill(values.data_ptr<float>(), begin, end); });
}

}  // namespace hewn::nn
