#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/grid.h"
#include "hewn/prune/score/options.h"

namespace hewn::prune {

/// What a score sees of its layer. The leaf is the registered parameter, not the gated weight.
struct ScoredWeight {
  at::Tensor leaf;
  WeightLayout layout;
  int64_t keep = 0;  // blocks that stay at the target sparsity

  int64_t blocks() const { return layout.grid.blocks(); }
  double density() const { return static_cast<double>(keep) / static_cast<double>(blocks()); }
};

/// A trainable tensor that a score adds to the network; one value per block.
struct ScoreParameter {
  std::string name;
  at::Tensor tensor;
  bool l1 = false;  // decayed by its sign rather than by its value
};

/// A tensor that a score keeps from step to step.
struct ScoreMemory {
  std::string name;
  at::Tensor tensor;
};

class AttentionGroup;

/// Attention = n softmax(logits) over a layer's n blocks, clamped to [low, high].
struct ClampedAttention {
  at::Tensor logits;
  double low = 0;
  double high = 0;
};

/// The importance of each block of one layer, and the multiplier through which it is learned.
class Score {
 public:
  virtual ~Score() = default;

  /// Differentiable multiplier per block; undefined where it is 1.
  virtual at::Tensor gate(const ScoredWeight& weight) const = 0;
  /// From now on the gates of all layers that join a group may be computed together, with the same bits.
  virtual void join(const std::shared_ptr<AttentionGroup>& /*group*/) {}
  /// On a GPU, where the gate is nothing but attention: what it is computed from, so that many layers are
  /// gated in one launch. Else null.
  virtual const ClampedAttention* attention() const { return nullptr; }
  /// What the blocks of a layer are ranked by; no gradient.
  virtual at::Tensor importance(const ScoredWeight& weight) const = 0;
  /// One number to add to it where blocks of several layers are ranked together; undefined: 0. Apart from
  /// importance, so that no difference within a layer is lost to rounding.
  virtual at::Tensor level(const ScoredWeight& /*weight*/) const { return {}; }
  /// Whether importance is a logarithm.
  virtual bool in_logarithms() const { return false; }
  virtual std::vector<ScoreParameter> parameters() const { return {}; }
  /// What the score remembers besides: part of a checkpoint, not trained.
  virtual std::vector<ScoreMemory> memory() const { return {}; }
  /// Whether `see` is to be called while blocks are still to be chosen.
  virtual bool sees_inputs() const { return false; }
  /// Some inputs of the layer in this step, as rows x of the product x W.
  virtual void see(const at::Tensor& /*rows*/) {}
  /// Whether `see_gradient` is to be called. The layer then always computes with all of its blocks.
  virtual bool sees_gradients() const { return false; }
  /// The gradient of what the layer computes with in this step, dropped blocks included, in the leaf's memory
  /// order. Queues work on memory that stays where it is: a recorded step repeats it.
  virtual void see_gradient(const ScoredWeight& /*weight*/, const at::Tensor& /*gradient*/) {}
  /// What dropped blocks are ranked by where some are to come back; undefined: they do not.
  virtual at::Tensor growth() const { return {}; }
  /// False where a block of zeros gets no gradient, so that it could never come back.
  virtual bool learns_from_zero() const { return true; }
};

using MakeScore = std::unique_ptr<Score> (*)(const ScoredWeight&, const ScoreOptions&);
struct ScoreRow {
  std::string_view name;
  std::string_view help;
  MakeScore make;
};
const std::vector<ScoreRow>& scores();
/// Throws Error with the known names for an unknown one. May change the leaf's values (reparametrisation),
/// never the function that the network computes.
std::unique_ptr<Score> make_score(const std::string& name, const ScoredWeight& weight,
                                  const ScoreOptions& options);

}  // namespace hewn::prune
