#include "hewn/prune/make_layers.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/score/attention_group.h"

namespace hewn::prune {
namespace {

/// Whether a DENSE phase follows a SPARSE one, so that dropped blocks come back.
bool restores(const Schedule& schedule) {
  bool was_sparse = false;
  for (const PhaseSpan& span : schedule.phases()) {
    if (span.phase == Phase::kDense && was_sparse) return true;
    was_sparse = was_sparse || span.phase == Phase::kSparse;
  }
  return false;
}

void check_score(const Layer& layer, const Recipe& recipe, const Schedule& schedule) {
  if (!layer.score->learns_from_zero() && recipe.drop == DropRule::kZero && restores(schedule)) {
    throw Error(str("drop: zero does not go with score ", recipe.score,
                    ": a block of zeros gets no gradient and never comes back; use mask"));
  }
  if (layer.score->sees_inputs() && !layer.slot.watch) {
    throw Error(str("score ", recipe.score, ": layer \"", layer.name, "\" does not show its inputs"));
  }
}

at::Tensor costs_of(const LayerPlan& layer, at::Device device) {
  at::Tensor out = at::empty({layer.grid.blocks()}, at::kLong);
  for (int64_t block = 0; block < layer.grid.blocks(); ++block) {
    out.data_ptr<int64_t>()[block] = layer.cost.of_block(layer.grid, block);
  }
  return out.to(device);
}

const WeightSlot& slot_of(const std::vector<WeightSlot>& slots, const std::string& name) {
  const auto slot =
      std::find_if(slots.begin(), slots.end(), [&](const WeightSlot& some) { return some.name == name; });
  if (slot == slots.end()) throw Error(str("plan: the model has no layer called \"", name, "\""));
  return *slot;
}

}  // namespace

std::vector<Layer> make_layers(const std::vector<WeightSlot>& slots, const Plan& plan, const Recipe& recipe,
                               const Schedule& schedule) {
  std::vector<Layer> layers;
  const auto attention = std::make_shared<AttentionGroup>();
  for (const LayerPlan& planned : plan.layers) {
    if (!planned.pruned) continue;
    Layer layer;
    layer.slot = slot_of(slots, planned.name);
    layer.name = planned.name;
    layer.weight = {layer.slot.leaf, layout_on(layer.slot.leaf, planned.grid), planned.keep};
    layer.score = make_score(recipe.score, layer.weight, recipe.score_options);
    if (plan.options.budget.limited()) layer.costs = costs_of(planned, layer.slot.leaf.device());
    check_score(layer, recipe, schedule);
    layer.score->join(attention);
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace hewn::prune
