#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <torch/optim/optimizer.h>

#include "hewn/prune/gate.h"
#include "hewn/pruner.h"

namespace hewn {

prune::PhaseChange Pruner::step(torch::optim::Optimizer& optimiser) {
  restore_dropped();
  const prune::PhaseChange change = advance();
  if (change.reset_optimiser) optimiser.state().clear();
  if (change.entered || change.moment.phase == prune::Phase::kSparsification) remember_dropped();
  show();
  return change;
}

/// Momentum and decay of optimisers that know nothing of supports move dropped weights too.
void Pruner::restore_dropped() {
  const at::NoGradGuard no_grad;
  for (const prune::Pruner::Layer& layer : algorithm().layers()) {
    const auto held = held_.find(layer.name);
    if (held == held_.end()) continue;
    at::Tensor leaf = layer.weight.leaf;
    const WeightLayout& layout = layer.weight.layout;
    leaf.copy_(prune::block_scale(leaf, {}, layer.support, layout) +
               prune::block_scale(held->second, {}, 1 - layer.support, layout));
  }
}

void Pruner::remember_dropped() {
  held_.clear();
  if (recipe_.decay_dropped) return;
  for (const prune::Pruner::Layer& layer : algorithm().layers()) {
    if (layer.support.defined()) held_[layer.name] = layer.weight.leaf.detach().clone();
  }
}

}  // namespace hewn
