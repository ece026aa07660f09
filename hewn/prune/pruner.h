#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hewn/prune/plan.h"
#include "hewn/prune/recipes.h"
#include "hewn/prune/schedule/schedule.h"
#include "hewn/prune/score/score.h"
#include "hewn/prune/search/search.h"
#include "hewn/prune/sparse_weight.h"

namespace hewn::prune {

/// Is shown the inputs of a layer, as the layer gets them.
using SeeInput = std::function<void(const at::Tensor& input)>;

/// A weight that can be gated: the registered leaf parameter, and a way to say what the forward pass sees.
struct WeightSlot {
  std::string name;
  at::Tensor leaf;
  std::function<void(const at::Tensor&)> set;
  /// Runs the layer on kept blocks only; empty where its module cannot.
  std::function<void(const std::shared_ptr<SparseWeight>&)> set_sparse = {};
  /// Shows the input of every forward pass, until it is given null; empty where its module cannot.
  std::function<void(const SeeInput&)> watch = {};
  /// An input as rows x, such that the layer computes x W with its weight as a matrix of blocks. Empty where
  /// `watch` is.
  std::function<at::Tensor(const at::Tensor& input)> rows = {};
  /// Parts of its outputs that share no block.
  int64_t groups = 1;
};

/// What before_forward changed, for those who own the optimiser and the log.
struct PhaseChange {
  bool entered = false;  // a new phase began at this step
  Moment moment;
  bool reset_optimiser = false;
};

/// Prunes the slots of a network while it trains: Algorithm 1 of the paper with its SPARSIFICATION phase, for
/// any score, search and schedule. Call before_forward(step) once before each training step.
class Pruner {
 public:
  /// One pruned layer.
  struct Layer {
    std::string name;
    ScoredWeight weight;
    std::shared_ptr<Score> score;
    at::Tensor support;                    // uint8 per block; undefined while all are active
    at::Tensor support_memory;             // where support lies whenever it is defined, once it was
    std::shared_ptr<SparseWeight> sparse;  // of this support; null while the layer runs dense
    WeightSlot slot;
  };

  /// Slots that the plan leaves dense are not touched. Throws Error where the parts do not go together.
  Pruner(const std::vector<WeightSlot>& slots, const Plan& plan, const Recipe& recipe, int64_t steps);

  /// advance, then show.
  PhaseChange before_forward(int64_t step);

  /// Comes to a step: its phase and supports. The slots still show the weights of the step before.
  PhaseChange advance(int64_t step);
  /// Gives every slot its weight for the next forward pass of training. Queues the same work in every step of
  /// a phase, on the same memory but for what it allocates, so that it can be recorded and replayed.
  void show();
  /// From now on show gives weights on a GPU in bf16, as autocast would convert them.
  void show_bf16(bool on) { bf16_ = on; }
  /// Whether a score looks at the inputs in the next forward pass.
  bool listens() const;

  /// From now on layers for which `execution` says so run on their kept blocks only. Without it all run
  /// dense.
  void set_execution(std::function<bool(const Layer&, double density)> execution) {
    execution_ = std::move(execution);
  }

  /// Sets every slot anew from the current weights, scores and supports, for evaluation.
  void refresh();

  /// Makes the gated values the leaves' own values and opens the gates: an ordinary network, with zeros.
  void fold();

  const std::vector<Layer>& layers() const { return layers_; }
  const Schedule& schedule() const { return schedule_; }
  const Moment& moment() const { return moment_; }
  /// Blocks that a layer keeps active at a moment, by its own budget.
  int64_t active_blocks(const Layer& layer, const Moment& moment) const;
  /// How often supports were chosen so far.
  int64_t selections() const { return selections_; }

  /// Everything that a resumed run needs besides the weights: score parameters, what scores remember, and
  /// supports by name, and the phase. Tensors are shared, not copied.
  std::map<std::string, at::Tensor> state() const;
  int64_t phase_index() const { return moment_.index; }
  void load_state(const std::map<std::string, at::Tensor>& state, int64_t phase_index);

 private:
  PhaseChange enter(const Moment& next);
  void choose_supports(const Moment& moment);
  void drop_weights();
  void show(Layer& layer, bool bf16) const;
  void listen(const Layer& layer, bool on) const;
  at::Tensor gated(const Layer& layer, bool bf16) const;
  void set_support(Layer& layer, const at::Tensor& support) const;

  std::function<bool(const Layer&, double)> execution_;
  bool bf16_ = false;
  Recipe recipe_;
  Schedule schedule_;
  Search search_;
  double sparsity_;
  std::vector<Layer> layers_;
  Moment moment_{Phase::kDense, -1, 0};
  int64_t selections_ = 0;
};

/// Says whether a layer should run on its kept blocks only when that fraction of its blocks is active.
using Execution = std::function<bool(const Pruner::Layer& layer, double density)>;

}  // namespace hewn::prune
