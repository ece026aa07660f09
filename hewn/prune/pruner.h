#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hewn/prune/layer.h"
#include "hewn/prune/plan.h"
#include "hewn/prune/recipes.h"
#include "hewn/prune/schedule/schedule.h"
#include "hewn/prune/search/search.h"

namespace hewn::prune {

/// What a step changed, for those who own the optimiser and the log.
struct PhaseChange {
  bool entered = false;  // a new phase began at this step
  Moment moment;
  bool reset_optimiser = false;
};

/// Prunes the slots of a network while it trains: Algorithm 1 of the paper with its SPARSIFICATION phase, for
/// any score, search and schedule. Before each training step's forward pass come advance(step) and show().
class Pruner {
 public:
  using Layer = prune::Layer;

  /// Slots that the plan leaves dense are not touched. Throws Error where the parts do not go together.
  Pruner(const std::vector<WeightSlot>& slots, const Plan& plan, const Recipe& recipe, int64_t steps);

  /// Names all layers in order, where the network is a plain chain of them: the last selection then keeps no
  /// block that lies on no path from input to output.
  void set_chain(const std::vector<std::string>& names) { chain_ = names; }

  /// Makes these blocks the only ones that can be active, up to the next DENSE phase; before the first step.
  void begin_with(const Blocks& support);

  /// Comes to a step: its phase and supports. The slots still show the weights of the step before.
  PhaseChange advance(int64_t step);
  /// Gives every slot its weight for the next forward pass of training. Queues the same work in every step of
  /// a phase, on the same memory but for what it allocates, so that it can be recorded and replayed.
  void show();
  /// The same for evaluation, from the current weights, scores and supports: in float, with no score
  /// watching.
  void refresh();
  /// Makes the gated values the leaves' own values and opens the gates: an ordinary network, with zeros.
  void fold();

  /// From now on show gives weights on a GPU in bf16, as autocast would convert them.
  void show_bf16(bool on) { bf16_ = on; }
  /// From now on layers for which `execution` says so run on their kept blocks only. Without it all run
  /// dense.
  void set_execution(Execution execution) { execution_ = std::move(execution); }

  const std::vector<Layer>& layers() const { return layers_; }
  const Schedule& schedule() const { return schedule_; }
  const Moment& moment() const { return moment_; }
  int64_t phase_index() const { return moment_.index; }
  /// Whether a score looks at the inputs in the next forward pass.
  bool listens() const;
  /// Blocks that a layer keeps active at a moment, by its own budget.
  int64_t active_blocks(const Layer& layer, const Moment& moment) const;
  /// How often supports were chosen so far.
  int64_t selections() const { return selections_; }

  /// Everything that a resumed run needs besides the weights and the phase, by name; see state_of.
  std::map<std::string, at::Tensor> state() const;
  void load_state(const std::map<std::string, at::Tensor>& state, int64_t phase_index);

 private:
  PhaseChange enter(const Moment& next);
  void choose_supports(const Moment& moment);
  Limits limits_at(const Moment& moment) const;
  double sparsity_of(const Layer& layer) const;

  Recipe recipe_;
  Schedule schedule_;
  Search search_;
  Plan plan_;
  std::vector<std::string> chain_;
  std::vector<Layer> layers_;
  Execution execution_;
  bool bf16_ = false;
  Moment moment_{Phase::kDense, -1, 0};
  int64_t selections_ = 0;
};

}  // namespace hewn::prune
