#include "hewn/parameters.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/pruner.h"

namespace hewn {

std::vector<Parameter> parameters_of(Pruner& pruner, double weight_decay, bool decay_all) {
  const auto& layers = pruner.algorithm().layers();
  std::vector<Parameter> out;
  const auto is_table = [&](const at::Tensor& tensor) {
    const auto& tables = pruner.network().tables;
    return std::any_of(tables.begin(), tables.end(),
                       [&](const at::Tensor& table) { return table.is_same(tensor); });
  };
  for (const auto& [name, tensor] : pruner.network().parameters) {
    Parameter parameter{name, tensor};
    // Biases and normalisation layers are the one-dimensional parameters. Most rows of a table are not looked
    // at in a step.
    const bool decayed = !is_table(tensor) && (decay_all || tensor.dim() > 1);
    parameter.weight_decay = decayed ? weight_decay : 0;
    for (const prune::Pruner::Layer& layer : layers) {
      if (layer.weight.leaf.is_same(tensor) && !pruner.recipe().decay_dropped) parameter.layer = &layer;
    }
    out.push_back(parameter);
  }
  const prune::Recipe& recipe = pruner.recipe();
  const double decay = recipe.logit_decay.value_or(weight_decay);
  for (const prune::Pruner::Layer& layer : layers) {
    for (const prune::ScoreParameter& score : layer.score->parameters()) {
      Parameter parameter{str("score.", layer.name, ".", score.name), score.tensor, recipe.logit_lr};
      (score.l1 ? parameter.l1_decay : parameter.weight_decay) = decay;
      parameter.shared_moment = recipe.shared_moment;
      out.push_back(parameter);
    }
  }
  return out;
}

}  // namespace hewn
