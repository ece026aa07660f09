// hewn::block_scale, the gate as an operator: what torch.compile sees of it. Eager code calls
// prune::block_scale, which is the same product.
#include <ATen/Dispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "hewn/core/error.h"
#include "hewn/kernels/block_ops.h"
#include "hewn/kernels/cuda/cuda.h"
#include "hewn/prune/gate.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/stream.h"
#include "hewn/tensor/torch_compat.h"

namespace hewn::python {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Maybe = TorchOptional<at::Tensor>;
using Layout = at::IntArrayRef;  // rows, cols, block rows, block cols, groups, taps

WeightLayout layout_from(Layout v) {
  if (v.size() != 6) throw Error("block_scale: expected a layout of six numbers");
  return {{v[0], v[1], {v[2], v[3]}, v[4]}, v[5]};
}

at::Tensor scale(const at::Tensor& weight, const Maybe& gate, const Maybe& active, Layout layout) {
  const at::NoGradGuard no_grad;
  return prune::block_scale(weight, gate.value_or(at::Tensor()), active.value_or(at::Tensor()),
                            layout_from(layout));
}

/// Gradients of weight and gate; of the second an empty one where there is no gate.
std::tuple<at::Tensor, at::Tensor> scale_backward(const at::Tensor& grad_out, const at::Tensor& weight,
                                                  const Maybe& gate, const Maybe& active, Layout given) {
  const WeightLayout layout = layout_from(given);
  const at::Tensor grad = tensor::in_order_of(weight, grad_out);
  const at::Tensor gates = gate ? gate->contiguous() : at::Tensor();
  const auto* on = active ? active->data_ptr<uint8_t>() : nullptr;
  const at::Tensor grad_weight = at::empty_like(weight);
  const at::Tensor grad_gate = gate ? at::empty_like(gates) : at::empty_like(weight).resize_({0});
  if (weight.is_cuda()) {
    kernels::cuda::block_scale_backward(
        layout, grad.data_ptr(), kernels::cuda::Real::kFloat, weight.data_ptr<float>(),
        tensor::data_or_null<float>(gates), on, grad_weight.data_ptr<float>(),
        gate ? grad_gate.data_ptr<float>() : nullptr, tensor::current_stream(weight));
    return {grad_weight, grad_gate};
  }
  AT_DISPATCH_FLOATING_TYPES(weight.scalar_type(), "block_scale_backward", [&] {
    tensor::share_columns(layout, [&](int64_t begin, int64_t end) {
      kernels::block_scale_backward(layout, grad.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(),
                                    tensor::data_or_null<scalar_t>(gates), on,
                                    grad_weight.data_ptr<scalar_t>(),
                                    gate ? grad_gate.data_ptr<scalar_t>() : nullptr, begin, end);
    });
  });
  return {grad_weight, grad_gate};
}

at::Tensor scale_meta(const at::Tensor& weight, const Maybe&, const Maybe&, Layout) {
  return at::empty_like(weight);
}

std::tuple<at::Tensor, at::Tensor> scale_backward_meta(const at::Tensor&, const at::Tensor& weight,
                                                       const Maybe& gate, const Maybe&, Layout) {
  return {at::empty_like(weight), gate ? at::empty_like(*gate) : at::empty_like(weight).resize_({0})};
}

at::Tensor call_scale(const at::Tensor& weight, const Maybe& gate, const Maybe& active, Layout layout) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("hewn::block_scale", "").typed<decltype(scale)>();
  return op.call(weight, gate, active, layout);
}

std::tuple<at::Tensor, at::Tensor> call_backward(const at::Tensor& grad, const at::Tensor& weight,
                                                 const Maybe& gate, const Maybe& active, Layout layout) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("hewn::block_scale_backward", "")
                             .typed<decltype(scale_backward)>();
  return op.call(grad, weight, gate, active, layout);
}

Maybe maybe(const at::Tensor& tensor) { return tensor.defined() ? Maybe(tensor) : Maybe(); }

/// Both directions go through the dispatcher, so that tracing sees two operators.
struct Scale : torch::autograd::Function<Scale> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& weight, const Maybe& gate,
                            const Maybe& active, const std::vector<int64_t>& layout) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->saved_data["layout"] = layout;
    context->save_for_backward({weight, gate.value_or(at::Tensor()), active.value_or(at::Tensor())});
    return call_scale(weight, gate, active, layout);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const auto [weight, gate] = call_backward(grads[0], saved[0], maybe(saved[1]), maybe(saved[2]),
                                              context->saved_data["layout"].toIntVector());
    return {weight, saved[1].defined() ? gate : at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

at::Tensor scale_autograd(const at::Tensor& weight, const Maybe& gate, const Maybe& active, Layout layout) {
  return Scale::apply(weight, gate, active, layout.vec());
}

}  // namespace
}  // namespace hewn::python

TORCH_LIBRARY_FRAGMENT(hewn, m) {
  m.def("block_scale(Tensor weight, Tensor? gate, Tensor? active, int[] layout) -> Tensor");
  m.def(
      "block_scale_backward(Tensor grad, Tensor weight, Tensor? gate, Tensor? active, int[] layout) -> "
      "(Tensor, "
      "Tensor)");
}
TORCH_LIBRARY_IMPL(hewn, CPU, m) {
  m.impl("block_scale", hewn::python::scale);
  m.impl("block_scale_backward", hewn::python::scale_backward);
}
TORCH_LIBRARY_IMPL(hewn, CUDA, m) {
  m.impl("block_scale", hewn::python::scale);
  m.impl("block_scale_backward", hewn::python::scale_backward);
}
TORCH_LIBRARY_IMPL(hewn, Meta, m) {
  m.impl("block_scale", hewn::python::scale_meta);
  m.impl("block_scale_backward", hewn::python::scale_backward_meta);
}
TORCH_LIBRARY_IMPL(hewn, Autograd, m) { m.impl("block_scale", hewn::python::scale_autograd); }
