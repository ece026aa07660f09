#include "hewn/prune/layer_state.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>

#include "hewn/core/error.h"

namespace hewn::prune {
namespace {

/// The score's own tensors by their names in a state.
std::map<std::string, at::Tensor> score_tensors(const Layer& layer) {
  std::map<std::string, at::Tensor> out;
  for (const ScoreParameter& parameter : layer.score->parameters()) {
    out[str("score.", layer.name, ".", parameter.name)] = parameter.tensor;
  }
  for (const ScoreMemory& memory : layer.score->memory()) {
    out[str("memory.", layer.name, ".", memory.name)] = memory.tensor;
  }
  return out;
}

std::string support_name(const Layer& layer) { return str("support.", layer.name); }

void check_support(const Layer& layer, const at::Tensor& support) {
  const bool flags = support.scalar_type() == at::kByte && support.dim() == 1 &&
                     support.size(0) == layer.weight.blocks() && (support <= 1).all().item<bool>();
  if (!flags)
    throw Error(
        str(support_name(layer), ": expected a flag for each of the ", layer.weight.blocks(), " blocks"));
}

}  // namespace

std::map<std::string, at::Tensor> state_of(const Layer& layer) {
  std::map<std::string, at::Tensor> out = score_tensors(layer);
  if (layer.support.defined()) out[support_name(layer)] = layer.support;
  return out;
}

void load_state(Layer& layer, const std::map<std::string, at::Tensor>& state, const Execution& execution) {
  const at::NoGradGuard no_grad;
  for (auto& [name, tensor] : score_tensors(layer)) {
    const auto held = state.find(name);
    if (held == state.end()) throw Error(str("it holds no ", name));
    // copy_ would spread a smaller tensor, and convert another type.
    if (held->second.sizes() != tensor.sizes() || held->second.scalar_type() != tensor.scalar_type())
      throw Error(str(name, " has another shape or type"));
    if (tensor.is_floating_point() && !at::isfinite(held->second).all().item<bool>())
      throw Error(str(name, " holds values that are not finite"));
    tensor.copy_(held->second);
  }
  const auto support = state.find(support_name(layer));
  if (support != state.end()) check_support(layer, support->second);
  layer.set_support(support == state.end() ? at::Tensor() : support->second.to(layer.weight.leaf.device()),
                    execution);
}

}  // namespace hewn::prune
