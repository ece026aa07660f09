#include "hewn/prune/score/attention_group.h"

#include <ATen/core/List.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "hewn/kernels/cuda/cuda.h"

namespace hewn::prune {
namespace {

using kernels::cuda::AttentionItem;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using Limits = std::vector<std::pair<float, float>>;

struct OnGpu : torch::autograd::Function<OnGpu> {
  static variable_list forward(AutogradContext* context, at::TensorList logits, const Limits& limits) {
    variable_list gates;
    c10::List<at::Tensor> attentions;
    c10::List<double> clamps;
    std::vector<AttentionItem> items;
    for (size_t i = 0; i < logits.size(); ++i) {
      const auto [low, high] = limits[i];
      gates.push_back(at::empty_like(logits[i]));
      attentions.push_back(at::empty_like(logits[i]));
      clamps.push_back(low);
      clamps.push_back(high);
      items.push_back({logits[i].data_ptr<float>(), attentions.get(i).data_ptr<float>(),
                       gates[i].data_ptr<float>(), logits[i].numel(), low, high});
    }
    kernels::cuda::attention(items, tensor::current_stream(logits[0]));
    // Not among the saved variables, which the first backward pass frees: a layer may take its gate from here
    // after another's backward pass, where passes do not run through all layers.
    context->saved_data["attention"] = attentions;
    context->saved_data["limits"] = clamps;
    context->set_materialize_grads(false);
    return gates;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const c10::List<at::Tensor> attentions = context->saved_data["attention"].toTensorList();
    const c10::List<double> clamps = context->saved_data["limits"].toDoubleList();
    variable_list out(grads.size() + 1);  // and none for the limits
    variable_list held;
    std::vector<AttentionItem> items;
    for (size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].defined()) continue;
      const at::Tensor attention = attentions.get(i);
      held.push_back(grads[i].contiguous());
      out[i] = at::empty_like(attention);
      items.push_back({out[i].data_ptr<float>(), attention.data_ptr<float>(), held.back().data_ptr<float>(),
                       attention.numel(), static_cast<float>(clamps.get(2 * i)),
                       static_cast<float>(clamps.get(2 * i + 1))});
    }
    if (!items.empty()) kernels::cuda::attention_backward(items, tensor::current_stream(held[0]));
    return out;
  }
};

}  // namespace

size_t AttentionGroup::add(const at::Tensor& logits, double low, double high) {
  members_.push_back({logits, static_cast<float>(low), static_cast<float>(high)});
  return members_.size() - 1;
}

at::Tensor AttentionGroup::gate(size_t layer) {
  Member& member = members_[layer];
  if (!at::GradMode::is_enabled()) {
    return OnGpu::apply(at::TensorList(member.logits), Limits{{member.low, member.high}})[0];
  }
  const bool fresh = member.gate.defined() && member.version == member.logits._version() &&
                     queue_ == tensor::current_queue(member.logits);
  if (!fresh) compute_all();
  return std::exchange(member.gate, at::Tensor());
}

void AttentionGroup::compute_all() {
  std::vector<at::Tensor> logits;
  Limits limits;
  for (const Member& member : members_) {
    logits.push_back(member.logits);
    limits.emplace_back(member.low, member.high);
  }
  queue_ = tensor::current_queue(logits[0]);
  variable_list gates = OnGpu::apply(at::TensorList(logits), limits);
  for (size_t i = 0; i < members_.size(); ++i) {
    members_[i].gate = std::move(gates[i]);
    members_[i].version = static_cast<uint32_t>(logits[i]._version());
  }
}

}  // namespace hewn::prune
