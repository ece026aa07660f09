#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hewn/core/blocks.h"
#include "hewn/prune/plan.h"
#include "hewn/prune/recipes.h"

namespace hewn {

/// How a network is pruned. Fields without a value are the method's own.
struct PrunerOptions {
  std::optional<std::string> method = {};  // hewn methods lists them; none: the one that suits the network
  BlockShape block = {};
  double sparsity = 0.9;                    // fraction of each layer's blocks to drop, in [0, 1)
  std::string budget = "uniform";           // how the blocks that stay are shared: prune/budget.h
  std::string rounding = "down";            // of the blocks to keep: down, or nearest as in version 0.1
  int64_t steps = 0;                        // training steps that there will be
  std::vector<std::string> layers = {"*"};  // patterns of the names of layers that may be pruned
  std::vector<std::string> except = {};     // and of those that may not
  int64_t min_blocks = 100;                 // layers with fewer blocks stay dense
  Blocks support = {};                      // blocks that are kept from the first step to the last, and no
                                            // others: those of a network that is pruned already
  std::map<std::string, int64_t> positions =
      {};                                     // how often a sample meets each layer; budget flops needs it
  std::vector<prune::LayerTimes> times = {};  // for budget ms
  std::vector<std::string> chain = {};        // all layers in order, where the network is a plain chain;
                                              // models of hewn::nn say so themselves
  bool embeddings = false;                    // Embedding tables may be pruned too
  bool clicks = false;                        // click-through prediction: the schedules of the paper for it
  bool trained = false;                       // the module has the weights of a trained network
  std::optional<bool> adam = {};              // trained by Adam or AdamW; none: what the optimiser says

  // The parts of a method, to recombine them.
  std::optional<std::string> score = {};
  std::optional<std::string> search = {};
  std::optional<std::string> schedule = {};
  std::optional<std::string> drop = {};          // weights of dropped blocks: mask (keep) or zero
  std::optional<std::string> reset = {};         // when optimiser state is cleared: none, decompress or every
  std::optional<double> logit_lr = {};           // learning rate of logits and masks over that of weights
  std::optional<double> logit_decay = {};        // their weight decay
  std::optional<std::string> logit_moment = {};  // under Adam: own, or shared by a layer
  std::optional<double> clip_grad = {};          // largest norm of all gradients together; 0: no limit
  std::optional<std::string> attention_clip = {};  // clamp attention: true ([density, 1 / density]), false or
                                                   // LOW,HIGH
  std::optional<double> logit_start = {};          // logits begin at this times the logarithm of the norms
  bool decay_dropped = false;                      // weights of dropped blocks decay like the others
  std::optional<double> alpha = {};                // exponent of powerprop and attention-power
  std::optional<std::string> ramp = {};            // of SPARSIFICATION: exponential or polynomial
  std::optional<double> ramp_c = {};
  std::optional<bool> revive = {};  // at the last selection blocks on no path from input to output make room
  std::optional<int64_t> rerank_every = {};   // steps between selections during SPARSIFICATION
  std::optional<double> dense_fraction = {};  // share of the first DENSE phase
  bool sparsification = true;                 // false: its share goes to sparse and dense
  std::optional<int64_t> cycles = {};
  std::vector<int64_t> cycle = {1, 1, 1};  // parts of a cycle: sparsification, sparse, dense

  /// Layers of hewn::nn that run on kept blocks only: on, off, LAYER:DENSITY,... (up to that density), or
  /// none: a rule of block and size (prune/execution.h), on the CPU.
  std::optional<std::string> sparse_execution = {};
};

/// The method's row with the parts that the options replace, in the form for that setting. Throws Error for
/// names that are not known.
prune::Recipe recipe_of(const PrunerOptions& options, const prune::Setting& setting);

prune::PlanOptions plan_options(const PrunerOptions& options);

/// Throws Error, naming the option, for a value that fits no network.
void check(const PrunerOptions& options);

}  // namespace hewn
