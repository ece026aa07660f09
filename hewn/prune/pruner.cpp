#include "hewn/prune/pruner.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/prune/gate.h"

namespace hewn::prune {
namespace {

// Rows of a layer's input that a score sees in one step: enough for what it averages over many.
constexpr int64_t kRowsSeen = 4096;

/// Whether a DENSE phase follows a SPARSE one, so that dropped blocks come back.
bool restores(const Schedule& schedule) {
  bool was_sparse = false;
  for (const PhaseSpan& span : schedule.phases()) {
    if (span.phase == Phase::kDense && was_sparse) return true;
    was_sparse = was_sparse || span.phase == Phase::kSparse;
  }
  return false;
}

}  // namespace

PhaseChange Pruner::before_forward(int64_t step) {
  const PhaseChange change = advance(step);
  show();
  return change;
}

PhaseChange Pruner::advance(int64_t step) {
  const Moment now = schedule_.at(step);
  const PhaseChange change = now.index == moment_.index ? PhaseChange{false, now, false} : enter(now);
  moment_ = now;
  if (now.phase == Phase::kSparsification) {
    const int64_t since = step - schedule_.phases()[static_cast<size_t>(now.index)].begin;
    if (since % recipe_.rerank_every == 0) choose_supports(now);
  }
  return change;
}

void Pruner::show() {
  for (Layer& layer : layers_) {
    show(layer, bf16_);
    listen(layer, listens());
  }
}

/// No choice follows from what a SPARSE phase shows.
bool Pruner::listens() const {
  return moment_.phase != Phase::kSparse && !layers_.empty() && layers_.front().score->sees_inputs();
}

PhaseChange Pruner::enter(const Moment& next) {
  const Phase last = moment_.index < 0 ? next.phase : moment_.phase;
  if (next.phase == Phase::kSparse) {
    choose_supports(next);
    if (recipe_.drop == DropRule::kZero) drop_weights();
  } else if (next.phase == Phase::kDense) {
    for (Layer& layer : layers_) set_support(layer, at::Tensor());
  }
  const bool decompressed = next.phase == Phase::kDense && last != Phase::kDense;
  const bool reset = moment_.index >= 0 && (recipe_.reset == ResetRule::kEvery ||
                                            (recipe_.reset == ResetRule::kDecompress && decompressed));
  return {true, next, reset};
}

/// The blocks that stay active, among those that still are.
void Pruner::choose_supports(const Moment& moment) {
  const at::NoGradGuard no_grad;
  std::vector<Candidates> candidates;
  bool all = true;
  for (const Layer& layer : layers_) {
    const int64_t keep = active_blocks(layer, moment);
    all = all && keep == layer.weight.blocks() && !layer.support.defined();
    candidates.push_back({layer.score->importance(layer.weight), layer.support, keep,
                          std::max<int64_t>(1, layer.weight.keep / 10)});
  }
  if (all) return;
  const std::vector<at::Tensor> supports = search_(candidates);
  for (size_t i = 0; i < layers_.size(); ++i) set_support(layers_[i], supports[i]);
  ++selections_;
}

int64_t Pruner::active_blocks(const Layer& layer, const Moment& moment) const {
  switch (moment.phase) {
    case Phase::kDense:
      return layer.weight.blocks();
    case Phase::kSparse:
      return layer.weight.keep;
    case Phase::kSparsification: {
      const double sparsity = ramp_sparsity(recipe_.ramp, recipe_.ramp_c, moment.progress, sparsity_);
      return std::max(layer.weight.keep, blocks_to_keep(layer.weight.blocks(), sparsity));
    }
  }
  return layer.weight.blocks();
}

void Pruner::drop_weights() {
  const at::NoGradGuard no_grad;
  for (Layer& layer : layers_) {
    layer.weight.leaf.copy_(block_scale(layer.weight.leaf, at::Tensor(), layer.support, layer.weight.layout));
  }
}

/// Gives the layer its weight for the next forward pass: kept blocks alone, or all of them with zeros
/// between.
void Pruner::show(Layer& layer, bool bf16) const {
  if (layer.sparse == nullptr) {
    layer.slot.set(gated(layer, bf16));
    return;
  }
  layer.sparse->gate = layer.score->gate(layer.weight);
  layer.slot.set_sparse(layer.sparse);
}

/// Lets a score that wants them see the layer's inputs from the next forward pass on, or stops that.
void Pruner::listen(const Layer& layer, bool on) const {
  if (!layer.score->sees_inputs()) return;
  if (!on) {
    layer.slot.watch(nullptr);
    return;
  }
  layer.slot.watch([score = layer.score, rows = layer.slot.rows](const at::Tensor& input) {
    const at::NoGradGuard no_grad;
    const int64_t each = input.dim() == 4 ? input.size(2) * input.size(3) : 1;
    const int64_t some = std::min(input.size(0), std::max<int64_t>(1, kRowsSeen / each));
    score->see(rows(input.narrow(0, 0, some)));
  });
}

void Pruner::set_support(Layer& layer, const at::Tensor& support) const {
  if (support.defined() && layer.support_memory.defined()) {
    layer.support_memory.copy_(support);
  } else if (support.defined()) {
    layer.support_memory = support.clone();
  }
  layer.support = support.defined() ? layer.support_memory : at::Tensor();
  layer.sparse = nullptr;
  if (!layer.support.defined() || !execution_ || !layer.slot.set_sparse) return;
  const at::Tensor& leaf = layer.weight.leaf;
  if (!leaf.is_cpu() || leaf.scalar_type() != at::kFloat) return;  // the kernels know no others
  const double density =
      static_cast<double>(layer.support.sum().item<int64_t>()) / static_cast<double>(layer.weight.blocks());
  if (!execution_(layer, density)) return;
  layer.sparse = std::make_shared<SparseWeight>(leaf, layer.weight.layout, layer.support);
}

/// W * A * mask (Algorithm 1, last line but one).
at::Tensor Pruner::gated(const Layer& layer, bool bf16) const {
  const at::Tensor gate = layer.score->gate(layer.weight);
  if (!gate.defined() && !layer.support.defined()) return layer.weight.leaf;
  return block_scale(layer.weight.leaf, gate, layer.support, layer.weight.layout,
                     bf16 && layer.weight.leaf.is_cuda());
}

void Pruner::refresh() {
  for (Layer& layer : layers_) {
    show(layer, /*bf16=*/false);
    listen(layer, false);
  }
}

void Pruner::fold() {
  const at::NoGradGuard no_grad;
  for (Layer& layer : layers_) {
    layer.weight.leaf.copy_(gated(layer, /*bf16=*/false));
    layer.sparse = nullptr;
    layer.slot.set(layer.weight.leaf);
    listen(layer, false);
  }
}

Pruner::Pruner(const std::vector<WeightSlot>& slots, const Plan& plan, const Recipe& recipe, int64_t steps)
    : recipe_(recipe),
      schedule_(make_schedule(recipe.schedule, recipe.schedule_options, steps)),
      search_(find_search(recipe.search)),
      sparsity_(plan.options.sparsity) {
  if (recipe.rerank_every < 1)
    throw Error(str("rerank-every: expected at least 1, got ", recipe.rerank_every));
  for (const LayerPlan& planned : plan.layers) {
    if (!planned.pruned) continue;
    const auto slot =
        std::find_if(slots.begin(), slots.end(), [&](const WeightSlot& s) { return s.name == planned.name; });
    if (slot == slots.end()) throw Error(str("plan: the model has no layer called \"", planned.name, "\""));
    Layer layer;
    layer.name = slot->name;
    layer.weight = {slot->leaf, layout_on(slot->leaf, planned.grid), planned.keep};
    layer.score = make_score(recipe.score, layer.weight, recipe.score_options);
    layer.slot = *slot;
    if (!layer.score->learns_from_zero() && recipe.drop == DropRule::kZero && restores(schedule_)) {
      throw Error(str("drop rule zero does not go with score ", recipe.score,
                      ": a block of zeros gets no gradient and never comes back; use --drop mask"));
    }
    if (layer.score->sees_inputs() && !layer.slot.watch) {
      throw Error(str("score ", recipe.score, ": layer \"", layer.name, "\" does not show its inputs"));
    }
    layers_.push_back(std::move(layer));
  }
}

std::map<std::string, at::Tensor> Pruner::state() const {
  std::map<std::string, at::Tensor> out;
  for (const Layer& layer : layers_) {
    for (const ScoreParameter& parameter : layer.score->parameters()) {
      out[str("score.", layer.name, ".", parameter.name)] = parameter.tensor;
    }
    for (const ScoreMemory& memory : layer.score->memory()) {
      out[str("memory.", layer.name, ".", memory.name)] = memory.tensor;
    }
    if (layer.support.defined()) out[str("support.", layer.name)] = layer.support;
  }
  return out;
}

void Pruner::load_state(const std::map<std::string, at::Tensor>& state, int64_t phase_index) {
  const at::NoGradGuard no_grad;
  for (Layer& layer : layers_) {
    for (const ScoreParameter& parameter : layer.score->parameters()) {
      at::Tensor target = parameter.tensor;
      target.copy_(state.at(str("score.", layer.name, ".", parameter.name)));
    }
    for (const ScoreMemory& memory : layer.score->memory()) {
      at::Tensor target = memory.tensor;
      target.copy_(state.at(str("memory.", layer.name, ".", memory.name)));
    }
    const auto support = state.find(str("support.", layer.name));
    set_support(layer,
                support == state.end() ? at::Tensor() : support->second.to(layer.weight.leaf.device()));
  }
  moment_.index = phase_index;
  if (phase_index >= 0) moment_.phase = schedule_.phases()[static_cast<size_t>(phase_index)].phase;
}

}  // namespace hewn::prune
