#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hewn/core/blocks.h"
#include "hewn/network.h"
#include "hewn/prune/plan.h"
#include "hewn/prune/pruner.h"
#include "hewn/pruner_options.h"

namespace torch::optim {
class Optimizer;
}

namespace hewn {

/// Prunes a module while it trains.
///
///   hewn::Pruner pruner(net, {.method = "sa++r", .block = {16, 16}, .sparsity = 0.9, .steps = steps});
///   hewn::Optimiser optimiser(pruner, {.lr = 0.1, .weight_decay = 5e-4});
///   for each batch: pruner.step(); optimiser.zero_grad(); loss.backward(); optimiser.step();
///   hewn::save(net, pruner.finish(), "net.safetensors");
///
/// Pruned are the weights of Linear, Conv1d and Conv2d layers (with groups: each group by itself), the packed
/// projections of MultiheadAttention and, where asked for, Embedding tables. A weight that two layers share
/// is one. The module's parameters stay registered under their names; what its layers compute with is the
/// gated weight. The module must outlive the pruner.
class Pruner {
 public:
  /// Throws Error where the options do not fit the module.
  Pruner(torch::nn::Module& module, const PrunerOptions& options);
  /// The same for a network whose layers are no modules of LibTorch.
  Pruner(Network network, const PrunerOptions& options);
  ~Pruner();
  Pruner(const Pruner&) = delete;
  Pruner& operator=(const Pruner&) = delete;

  /// Before every training step's forward pass: the phase and the kept blocks of the step that comes, and
  /// weights to match. Throws Error at the end of the first DENSE phase where no logit has moved: then they
  /// are in no optimiser.
  prune::PhaseChange step();
  /// The same for a network that torch::optim trains: clears the optimiser's state where the method wants
  /// that. See torch_optim.h.
  prune::PhaseChange step(torch::optim::Optimizer& optimiser);

  /// Gives the layers their weights anew: for another forward pass of the same step, or for evaluation with
  /// what the optimiser has just changed.
  void show();
  void refresh() { algorithm().refresh(); }

  /// With torch::optim, between backward pass and update: puts the gradients of layers that ran on kept
  /// blocks where optimisers look for them, and clips all as the method asks.
  void after_backward();

  /// Makes the gated values the weights' own, and returns the kept blocks of every pruned layer: the module
  /// is an ordinary one again, with zeros. Throws Error while the network is not sparse yet.
  Blocks finish();
  /// Throws Error where finish() would.
  void check_finish();

  const Network& network() const { return network_; }
  const PrunerOptions& options() const { return options_; }
  const prune::Plan& plan() const { return plan_; }
  /// Steps begun so far.
  int64_t steps_begun() const { return step_; }

  /// The method in the form that suits network and optimiser.
  const prune::Recipe& recipe();
  /// What does the work, for those who want to see more: layers, scores, supports, schedule.
  prune::Pruner& algorithm();

  /// Says what will train the network, before the first step; hewn::Optimiser and param_groups do. Throws
  /// Error where the method has taken another form already.
  void trained_by(bool adam);

  /// Which layers run on kept blocks only; see PrunerOptions::sparse_execution.
  void set_execution(const std::string& text);

  /// step() in two parts, for those who record the second: comes to the next step, without touching weights.
  prune::PhaseChange advance() { return advance(step_); }
  /// The same for a step of one's own, where training is not counted in steps.
  prune::PhaseChange advance(int64_t step);
  /// What optimisers that know nothing of supports do to dropped weights is undone by restore_dropped, to
  /// what they were at the last remember_dropped: whenever supports may have changed.
  void remember_dropped();
  void restore_dropped();
  /// How often optimisers were to forget their state so far.
  int64_t resets() const { return resets_; }

  /// Everything that a resumed training needs besides the module's own tensors. Tensors are shared.
  std::map<std::string, at::Tensor> state() { return algorithm().state(); }
  void load_state(const std::map<std::string, at::Tensor>& state, int64_t steps_begun);

 private:
  void build();
  void check_logits_moved(const prune::Moment& next);

  Network network_;
  PrunerOptions options_;
  prune::Setting setting_;
  prune::Plan plan_;
  prune::Recipe recipe_;
  std::unique_ptr<prune::Pruner> algorithm_;  // made when first needed: its form depends on the optimiser
  std::vector<at::Tensor> first_logits_;
  std::vector<at::Tensor> held_;  // by layer, with torch::optim: weights of those that have dropped blocks
  int64_t step_ = 0;
  int64_t resets_ = 0;
  bool finished_ = false;
};

}  // namespace hewn
