#include "hewn/prune/gating/gate_all.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/prune/gating/scale.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/stream.h"

namespace hewn::prune {
namespace {

using kernels::cuda::AttentionItem;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Part : ToGate {
  int64_t version = 0;  // of the weight
  int64_t begin = 0;    // where its attention lies among all
  int64_t input = 0;    // which input of the function its logits or gate are
  const void* gates = nullptr;

  int64_t blocks() const { return layout.grid.blocks(); }
  AttentionItem item(float* logits, float* all_attention, float* gate_values) const {
    return {logits,
            all_attention + begin,
            gate_values,
            blocks(),
            static_cast<float>(attention->low),
            static_cast<float>(attention->high)};
  }
  Scaled scaled() const { return {weight, gates, active, layout}; }
};

/// Not among autograd's saved variables, which the first backward pass frees: layers may take their weights
/// from here after another's backward pass, where passes do not run through all layers.
struct Job : torch::CustomClassHolder {
  std::vector<Part> parts;
  int64_t inputs = 0;    // of the function
  at::Tensor attention;  // of all parts that have it, then their gates
  int64_t attended = 0;  // blocks of those
  at::ScalarType type = at::kFloat;

  void compute_attention(const at::TensorOptions& options) {
    attention = at::empty({2 * attended}, options);
    auto* const values = attention.data_ptr<float>();
    std::vector<AttentionItem> items;
    for (Part& part : parts) {
      if (!part.attention) continue;
      float* const gates = values + attended + part.begin;
      items.push_back(part.item(part.attention->logits.data_ptr<float>(), values, gates));
      part.gates = gates;
    }
    kernels::cuda::attention(items, tensor::current_stream(attention));
  }
};

struct GateAll : torch::autograd::Function<GateAll> {
  /// `inputs`: the weights, then the logits or gates of those that have any.
  static variable_list forward(AutogradContext* context, at::TensorList inputs,
                               const c10::intrusive_ptr<Job>& job) {
    const at::TensorOptions options = inputs[0].options().requires_grad(false);
    if (job->attended > 0) job->compute_attention(options);
    variable_list outs;
    std::vector<Scaled> scaled;
    for (const Part& part : job->parts) {
      outs.push_back(at::empty_like(part.weight, options.dtype(job->type)));
      scaled.push_back(part.scaled());
      scaled.back().out = outs.back();
    }
    scale_blocks(scaled);
    context->saved_data["job"] = at::IValue::make_capsule(job);
    context->set_materialize_grads(false);
    return outs;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto held = context->saved_data["job"].toCapsule();
    const auto& job = static_cast<const Job&>(*held);
    variable_list out(static_cast<size_t>(job.inputs) + 1);  // and none for the job
    at::Tensor grad_gates;
    if (job.attended > 0) grad_gates = at::empty({job.attended}, job.attention.options());
    std::vector<Scaled> scaled;
    std::vector<AttentionItem> items;
    for (size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].defined()) continue;
      const Part& part = job.parts[i];
      TORCH_CHECK(
          part.weight._version() == part.version, "one of the variables needed for gradient ",
          "computation has been modified by an inplace operation: a weight behind its gate, of shape ",
          part.weight.sizes());
      scaled.push_back(part.scaled());
      scaled.back().grad_out = tensor::in_order_of(part.weight, grads[i]);
      scaled.back().grad_weight = out[i] = at::empty_like(part.weight);
      at::Tensor& grad = out[static_cast<size_t>(part.input)];
      if (part.attention) {
        grad = at::empty({part.blocks()}, grad_gates.options());
        auto* const gates = grad_gates.data_ptr<float>() + part.begin;
        scaled.back().grad_gate = gates;
        items.push_back(part.item(grad.data_ptr<float>(), job.attention.data_ptr<float>(), gates));
      } else if (part.gate.defined() && part.gate.requires_grad()) {
        grad = at::empty_like(part.gate);
        scaled.back().grad_gate = grad.data_ptr();
      }
    }
    scale_blocks_backward(scaled);
    if (!items.empty()) kernels::cuda::attention_backward(items, tensor::current_stream(grad_gates));
    return out;
  }
};

}  // namespace

std::vector<at::Tensor> block_scale(std::vector<ToGate> weights, bool bf16) {
  const auto job = c10::make_intrusive<Job>();
  job->type = bf16 ? at::kBFloat16 : weights.front().weight.scalar_type();
  variable_list inputs;
  for (ToGate& weight : weights) {
    Part part{std::move(weight)};
    part.version = part.weight._version();
    if (part.gate.defined()) part.gates = (part.gate = part.gate.contiguous()).data_ptr();
    if (part.attention) part.begin = std::exchange(job->attended, job->attended + part.blocks());
    inputs.push_back(part.weight);
    job->parts.push_back(std::move(part));
  }
  for (Part& part : job->parts) {
    if (!part.has_gate()) continue;
    part.input = static_cast<int64_t>(inputs.size());
    inputs.push_back(part.attention ? part.attention->logits : part.gate);
  }
  job->inputs = static_cast<int64_t>(inputs.size());
  return GateAll::apply(at::TensorList(inputs), job);
}

}  // namespace hewn::prune
