#include "hewn/prune/layer_state.h"

#include <ATen/core/grad_mode.h>

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

}  // namespace

std::map<std::string, at::Tensor> state_of(const Layer& layer) {
  std::map<std::string, at::Tensor> out = score_tensors(layer);
  if (layer.support.defined()) out[support_name(layer)] = layer.support;
  return out;
}

void load_state(Layer& layer, const std::map<std::string, at::Tensor>& state, const Execution& execution) {
  const at::NoGradGuard no_grad;
  for (auto& [name, tensor] : score_tensors(layer)) tensor.copy_(state.at(name));
  const auto support = state.find(support_name(layer));
  layer.set_support(support == state.end() ? at::Tensor() : support->second.to(layer.weight.leaf.device()),
                    execution);
}

}  // namespace hewn::prune
