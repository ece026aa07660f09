#include "hewn/pruner.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/kernels/bsr.h"
#include "hewn/nn/slots.h"
#include "hewn/prune/execution.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/support.h"
#include "hewn/tensor/clip.h"
#include "hewn/tensor/memory.h"

namespace hewn {
namespace {

// A first DENSE phase shorter than this may end before a learning rate that rises from 0 has moved anything.
constexpr int64_t kLeastDenseSteps = 3;

prune::Plan plan_for(const std::vector<prune::WeightSlot>& slots, const PrunerOptions& options, bool dense) {
  std::vector<prune::WeightShape> shapes = nn::weight_shapes(slots);
  for (prune::WeightShape& shape : shapes) {
    const auto known = options.positions.find(shape.name);
    if (known != options.positions.end()) shape.positions = known->second;
  }
  if (!options.support.empty()) return prune::plan_of(shapes, options.support);
  prune::Plan plan = prune::make_plan(shapes, plan_options(options));
  if (dense) {
    for (prune::LayerPlan& layer : plan.layers) {
      layer.pruned = false;
      layer.keep = layer.grid.blocks();
      layer.why_dense = "method dense";
    }
  } else if (plan.layers_pruned() == 0) {
    throw Error(str("block ", to_string(options.block), ": no layer has ", options.min_blocks,
                    " blocks, so nothing would be pruned; use a smaller block or min-blocks"));
  }
  return plan;
}

/// A phase in which other blocks are active would not keep the support.
void check_support(const PrunerOptions& options, const prune::Recipe& recipe,
                   const prune::Schedule& schedule) {
  if (options.support.empty()) return;
  for (const prune::PhaseSpan& span : schedule.phases()) {
    if (span.phase == prune::Phase::kSparse) continue;
    throw Error(str("support: is kept by method fixed-support (schedule sparse); method ", recipe.name,
                    " with schedule ", recipe.schedule, " would choose other blocks"));
  }
}

}  // namespace

Pruner::Pruner(torch::nn::Module& module, const PrunerOptions& options)
    : Pruner(network_of(module, options.embeddings), options) {}

Pruner::Pruner(Network network, const PrunerOptions& options)
    : network_(std::move(network)),
      options_(options),
      setting_{.clicks = options.clicks, .adam = options.adam.value_or(false), .trained = options.trained} {
  check(options);
  if (options.steps < 1) {
    throw Error(str("steps: expected how many training steps there will be, got ", options.steps));
  }
  recipe_ = recipe_of(options_, setting_);
  plan_ = plan_for(network_.slots, options_, recipe_.dense());
  const prune::Schedule schedule =
      prune::make_schedule(recipe_.schedule, recipe_.schedule_options, options.steps);
  check_support(options_, recipe_, schedule);
  if (!recipe_.dense() && schedule.phases().back().phase != prune::Phase::kSparse) {
    throw Error(str("steps: ", options.steps, " are too few for schedule ", recipe_.schedule,
                    ", which would not reach its sparsity; see hewn phases"));
  }
}

/// A training that was given up leaves a module that computes with its own weights again.
Pruner::~Pruner() {
  if (algorithm_ == nullptr || finished_) return;
  for (const prune::Pruner::Layer& layer : algorithm_->layers()) layer.slot.set(layer.weight.leaf);
}

void Pruner::trained_by(bool adam) {
  prune::Setting setting = setting_;
  setting.adam = options_.adam.value_or(adam);
  if (algorithm_ != nullptr && setting != setting_) {
    throw Error(
        "optimiser: make it before anything else is asked of the pruner; the method has taken the form "
        "for another one");
  }
  setting_ = setting;
  if (algorithm_ == nullptr) recipe_ = recipe_of(options_, setting_);
}

const prune::Recipe& Pruner::recipe() {
  algorithm();
  return recipe_;
}

prune::Pruner& Pruner::algorithm() {
  if (algorithm_ == nullptr) build();
  return *algorithm_;
}

void Pruner::build() {
  algorithm_ = std::make_unique<prune::Pruner>(network_.slots, plan_, recipe_, options_.steps);
  algorithm_->set_chain(options_.chain.empty() ? network_.chain : options_.chain);
  if (!options_.support.empty()) algorithm_->begin_with(options_.support);
  for (const prune::Pruner::Layer& layer : algorithm_->layers()) {
    for (const prune::ScoreParameter& parameter : layer.score->parameters()) {
      first_logits_.push_back(parameter.tensor.detach().clone());
    }
  }
  if (recipe_.decay_dropped) return;  // on kept blocks there would be nothing behind the mask
  if (options_.sparse_execution) {
    set_execution(*options_.sparse_execution);
  } else {
    algorithm_->set_execution(prune::execution_of(prune::usual_limits(*algorithm_)));
  }
}

void Pruner::set_execution(const std::string& text) {
  algorithm().set_execution(prune::execution_of(prune::parse_limits(text, algorithm())));
}

prune::PhaseChange Pruner::step() {
  const prune::PhaseChange change = advance();
  show();
  return change;
}

prune::PhaseChange Pruner::advance(int64_t to) {
  if (finished_) throw Error("pruner: finish() was called; make a new pruner to go on");
  const int64_t step = std::min(to, options_.steps - 1);  // whoever trains on stays in the last phase
  const prune::Moment next = algorithm().schedule().at(step);
  if (next.index == 1 && algorithm().phase_index() == 0) check_logits_moved(next);
  const prune::PhaseChange change = algorithm().advance(step);
  resets_ += change.reset_optimiser ? 1 : 0;
  step_ = to + 1;
  return change;
}

void Pruner::show() { algorithm().show(); }

/// Attention that nobody trains ranks blocks by nothing at all, and the network still learns: only this
/// notices.
void Pruner::check_logits_moved(const prune::Moment& next) {
  const auto& phases = algorithm().schedule().phases();
  const int64_t dense = phases[static_cast<size_t>(next.index)].begin;
  if (first_logits_.empty() || recipe_.logit_lr == 0 || dense < kLeastDenseSteps) return;
  size_t i = 0;
  for (const prune::Pruner::Layer& layer : algorithm().layers()) {
    for (const prune::ScoreParameter& parameter : layer.score->parameters()) {
      if (!at::equal(parameter.tensor.detach(), first_logits_[i++])) return;
    }
  }
  throw Error(str("pruner: the logits of score ", recipe_.score, " have not moved in the first ", dense,
                  " steps: they are in no optimiser; make it with hewn::Optimiser(pruner, ...) or from "
                  "hewn::param_groups(pruner, ...)"));
}

void Pruner::after_backward() {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> grads;
  for (const prune::Pruner::Layer& layer : algorithm().layers()) {
    if (layer.sparse == nullptr || !layer.sparse->grad().defined()) continue;
    at::Tensor leaf = layer.weight.leaf;
    const at::Tensor dense = at::zeros_like(leaf);
    const at::Tensor kept = layer.sparse->grad();
    tensor::share_kept(layer.sparse->pattern(), [&](int64_t begin, int64_t end) {
      kernels::scatter_blocks(layer.sparse->pattern(), layer.weight.layout, kept.data_ptr<float>(),
                              dense.data_ptr<float>(), begin, end);
    });
    leaf.mutable_grad() = dense;
    layer.sparse->clear_grad();
  }
  if (recipe_.clip_grad <= 0) return;
  const auto take = [&](const at::Tensor& tensor) {
    if (tensor.grad().defined()) grads.push_back(tensor::values_of(tensor.grad()));
  };
  for (const auto& parameter : network_.parameters) take(parameter.second);
  for (const prune::Pruner::Layer& layer : algorithm().layers()) {
    for (const prune::ScoreParameter& parameter : layer.score->parameters()) take(parameter.tensor);
  }
  tensor::clip(grads, recipe_.clip_grad);
}

void Pruner::check_finish() {
  const prune::Moment& moment = algorithm().moment();
  if (!recipe_.dense() && (finished_ || moment.phase != prune::Phase::kSparse)) {
    throw Error(finished_ ? std::string("pruner: finish() was called before")
                          : str("pruner: finish() after step ", step_, " of ", options_.steps, ", in phase ",
                                prune::name_of(moment.phase), ": the network is not sparse yet"));
  }
}

Blocks Pruner::finish() {
  check_finish();
  Blocks blocks;
  for (const prune::Pruner::Layer& layer : algorithm().layers()) {
    blocks[layer.name] = prune::blocks_of(layer.weight.layout.grid, layer.support);
  }
  algorithm().fold();
  finished_ = true;
  return blocks;
}

void Pruner::load_state(const std::map<std::string, at::Tensor>& state, int64_t steps_begun) {
  if (steps_begun < 0 || steps_begun > options_.steps) {
    throw Error(str("pruner: a state after ", steps_begun, " steps, expected 0 to ", options_.steps));
  }
  const int64_t index = steps_begun == 0 ? -1 : algorithm().schedule().at(steps_begun - 1).index;
  algorithm().load_state(state, index);
  for (const auto& [layer, kept] : options_.support) {
    const auto saved = state.find("support." + layer);
    if (saved != state.end() && !(prune::blocks_of(kept.grid(), saved->second) == kept)) {
      throw Error(str("support: of layer ", layer, " is another one than in the state that is loaded"));
    }
  }
  step_ = steps_begun;
}

}  // namespace hewn
