#include "kept.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include "hewn/kernels/bsr.h"
#include "hewn/nn/held.h"
#include "hewn/nn/sparse_linear.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/torch_compat.h"

namespace hewn::python {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Blocks = std::shared_ptr<prune::SparseWeight>;
using LayerPtr = std::shared_ptr<nn::SparseLayer>;

TorchOptional<at::Tensor> optional_of(const at::Tensor& tensor) {
  return tensor.defined() ? TorchOptional<at::Tensor>(tensor) : TorchOptional<at::Tensor>();
}

struct KeptValues : torch::autograd::Function<KeptValues> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& leaf,
                            const TorchOptional<at::Tensor>& gate, const Blocks& blocks) {
    const at::Tensor gates = gate.value_or(at::Tensor());
    context->saved_data["blocks"] = nn::hold(blocks);
    context->save_for_backward({leaf, gates});
    const kernels::BsrPattern& pattern = blocks->pattern();
    at::Tensor out = at::empty({pattern.value_floats()}, leaf.options());
    tensor::share_kept(pattern, [&](int64_t begin, int64_t end) {
      kernels::gather_blocks(pattern, blocks->layout(), leaf.data_ptr<float>(),
                             tensor::data_or_null<float>(gates), out.data_ptr<float>(), begin, end);
    });
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const auto blocks = nn::held<Blocks>(context->saved_data["blocks"]);
    const kernels::BsrPattern& pattern = blocks->pattern();
    const WeightLayout& layout = blocks->layout();
    const at::Tensor& leaf = saved[0];
    const at::Tensor& gate = saved[1];
    const at::Tensor grad = grads[0].clone();
    const at::Tensor grad_gate = gate.defined() ? at::zeros_like(gate) : at::Tensor();
    const at::Tensor grad_leaf = at::zeros_like(leaf);
    tensor::share_kept(pattern, [&](int64_t begin, int64_t end) {
      kernels::gate_backward(pattern, layout, leaf.data_ptr<float>(), tensor::data_or_null<float>(gate),
                             grad.data_ptr<float>(), tensor::data_or_null<float>(grad_gate), begin, end);
      kernels::scatter_blocks(pattern, layout, grad.data_ptr<float>(), grad_leaf.data_ptr<float>(), begin,
                              end);
    });
    return {grad_leaf, grad_gate, at::Tensor()};
  }
};

struct Multiply : torch::autograd::Function<Multiply> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& values,
                            const TorchOptional<at::Tensor>& bias, const LayerPtr& layer) {
    context->saved_data["layer"] = nn::hold(layer);
    context->saved_data["has_bias"] = bias.has_value();
    context->save_for_backward({x, values});
    return layer->product(x, values, bias.value_or(at::Tensor()));
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const auto layer = nn::held<LayerPtr>(context->saved_data["layer"]);
    const at::Tensor& x = saved[0];
    const at::Tensor dy = grads[0].contiguous(nn::is_channels_last(x) ? at::MemoryFormat::ChannelsLast
                                                                      : at::MemoryFormat::Contiguous);
    const at::Tensor dx = context->needs_input_grad(0) ? layer->grad_input(x, dy, saved[1]) : at::Tensor();
    const at::Tensor grad_values = context->needs_input_grad(1) ? layer->grad_weight(x, dy) : at::Tensor();
    at::Tensor grad_bias;
    if (context->saved_data["has_bias"].toBool()) grad_bias = dy.dim() == 4 ? dy.sum({0, 2, 3}) : dy.sum(0);
    return {dx, grad_values, grad_bias, at::Tensor()};
  }
};

}  // namespace

at::Tensor kept_values(const at::Tensor& leaf, const at::Tensor& gate, const Blocks& blocks) {
  return KeptValues::apply(leaf, optional_of(gate.defined() ? gate.contiguous() : gate), blocks);
}

at::Tensor multiply(const LayerPtr& layer, const at::Tensor& x, const at::Tensor& values,
                    const at::Tensor& bias) {
  const Grid& grid = layer->weight().pattern().grid;
  if (dynamic_cast<const nn::SparseLinear*>(layer.get()) == nullptr) {
    const at::Tensor images = nn::is_channels_last(x) ? x : x.contiguous();
    return Multiply::apply(images, values, optional_of(bias), layer);
  }
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = grid.cols;
  return Multiply::apply(x.reshape({-1, grid.rows}).contiguous(), values, optional_of(bias), layer)
      .view(shape);
}

}  // namespace hewn::python
