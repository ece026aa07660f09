#include "hewn/prune/pruner.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hewn/core/error.h"
#include "hewn/prune/gating/gate_group.h"
#include "hewn/prune/layer_state.h"
#include "hewn/prune/make_layers.h"
#include "hewn/prune/revive.h"
#include "hewn/prune/share_budget.h"
#include "hewn/prune/support.h"

namespace hewn::prune {
namespace {

constexpr double kFirstMoved = 0.3;  // share of the blocks that search regrow exchanges first

/// What every phase is, and where it begins and ends.
at::Tensor phases_of(const Schedule& schedule) {
  std::vector<int64_t> numbers;
  for (const PhaseSpan& span : schedule.phases()) {
    numbers.insert(numbers.end(), {static_cast<int64_t>(span.phase), span.begin, span.end});
  }
  return at::tensor(numbers, at::kLong).view({-1, 3});
}

}  // namespace

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

PhaseChange Pruner::enter(const Moment& next) {
  const Phase last = moment_.index < 0 ? next.phase : moment_.phase;
  if (next.phase == Phase::kSparse) {
    choose_supports(next);
    const bool ends = next.index + 1 == static_cast<int64_t>(schedule_.phases().size());
    if (ends && recipe_.revive) revive(layers_, plan_, chain_, execution_);
    if (recipe_.drop == DropRule::kZero) {
      for (Layer& layer : layers_) layer.drop();
    }
  } else if (next.phase == Phase::kDense) {
    for (Layer& layer : layers_) layer.set_support(at::Tensor(), execution_);
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
    candidates.push_back({.importance = layer.score->importance(layer.weight),
                          .within = layer.support,
                          .keep = keep,
                          .floor = least_blocks(layer.weight.keep),
                          .in_logarithms = layer.score->in_logarithms(),
                          .cost = layer.costs,
                          .memory = layer.support_memory,
                          .growth = layer.score->growth()});
    if (recipe_.budget.shared()) candidates.back().level = layer.score->level(layer.weight);
  }
  if (all) return;
  const std::vector<at::Tensor> supports = search_(candidates, limits_at(moment));
  for (size_t i = 0; i < layers_.size(); ++i) layers_[i].set_support(supports[i], execution_);
  ++selections_;
}

Limits Pruner::limits_at(const Moment& moment) const {
  Limits out;
  // Fewer and fewer blocks are exchanged, and none any more when the last phase begins.
  const auto last = static_cast<double>(std::max<size_t>(schedule_.phases().size() - 1, 1));
  out.moved = kFirstMoved / 2 * (1 + std::cos(std::numbers::pi * static_cast<double>(moment.index) / last));
  out.cost = plan_.limit;
  if (moment.phase != Phase::kSparsification || plan_.limit == 0) return out;
  double all = 0;
  for (const LayerPlan& layer : plan_.layers) {
    if (layer.pruned) all += static_cast<double>(layer.cost.of_all_blocks(layer.grid));
  }
  const double left =
      1 - ramp_sparsity(recipe_.ramp, recipe_.ramp_c, moment.progress, plan_.options.sparsity);
  out.cost = std::max(out.cost, static_cast<int64_t>(left * all));
  return out;
}

int64_t Pruner::active_blocks(const Layer& layer, const Moment& moment) const {
  switch (moment.phase) {
    case Phase::kDense:
      return layer.weight.blocks();
    case Phase::kSparse:
      return layer.weight.keep;
    case Phase::kSparsification: {
      const double sparsity =
          ramp_sparsity(recipe_.ramp, recipe_.ramp_c, moment.progress, sparsity_of(layer));
      return std::max(layer.weight.keep,
                      blocks_to_keep(layer.weight.blocks(), sparsity, plan_.options.rounding));
    }
  }
  return layer.weight.blocks();
}

/// What a layer's ramp leads to: under most budgets the same for all.
double Pruner::sparsity_of(const Layer& layer) const {
  return recipe_.budget.kind == BudgetKind::kErk ? 1 - layer.weight.density() : plan_.options.sparsity;
}

void Pruner::show() {
  for (const Layer& layer : layers_) {
    layer.show(bf16_);
    layer.listen(listens());
  }
}

/// No choice follows from what a SPARSE phase shows.
bool Pruner::listens() const {
  return moment_.phase != Phase::kSparse && !layers_.empty() && layers_.front().score->sees_inputs();
}

void Pruner::refresh() {
  for (const Layer& layer : layers_) {
    layer.show(/*bf16=*/false);
    layer.listen(false);
  }
}

void Pruner::fold() {
  for (Layer& layer : layers_) layer.fold();
}

Pruner::Pruner(const std::vector<WeightSlot>& slots, const Plan& plan, const Recipe& recipe, int64_t steps)
    : recipe_(recipe),
      schedule_(make_schedule(recipe.schedule, recipe.schedule_options, steps)),
      search_(find_search(recipe.budget.shared() ? "global" : recipe.search)),
      plan_(plan) {
  if (recipe.rerank_every < 1)
    throw Error(str("rerank-every: expected at least 1, got ", recipe.rerank_every));
  layers_ = make_layers(slots, plan, recipe, schedule_);
  join_groups(layers_);
}

void Pruner::begin_with(const Blocks& support) {
  for (Layer& layer : layers_) {
    layer.set_support(support_of(support.at(layer.name)).to(layer.weight.leaf.device()), execution_);
  }
}

std::map<std::string, at::Tensor> Pruner::state() const {
  std::map<std::string, at::Tensor> out;
  for (const Layer& layer : layers_) out.merge(state_of(layer));
  out["schedule"] = phases_of(schedule_);
  return out;
}

void Pruner::load_state(const std::map<std::string, at::Tensor>& state, int64_t phase_index) {
  if (phase_index < -1 || phase_index >= static_cast<int64_t>(schedule_.phases().size()))
    throw Error(str("a state in phase ", phase_index, " of a schedule with ", schedule_.phases().size()));
  const auto schedule = state.find("schedule");  // states of hewn 0.1 do not say it
  if (schedule != state.end() && !at::equal(schedule->second.cpu(), phases_of(schedule_))) {
    throw Error(
        "a state of another schedule: the pruner must be made as the first one was, with the same method, "
        "steps, kind of optimiser and trained or untrained start");
  }
  for (Layer& layer : layers_) prune::load_state(layer, state, execution_);
  moment_.index = phase_index;
  if (phase_index < 0) return;
  moment_.phase = schedule_.phases()[static_cast<size_t>(phase_index)].phase;
  for (const Layer& layer : layers_) {
    if (moment_.phase == Phase::kSparse && !layer.support.defined())
      throw Error(
          str("a state in phase ", name_of(moment_.phase), " without the support of layer ", layer.name));
  }
}

}  // namespace hewn::prune
