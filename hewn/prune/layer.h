#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>

#include "hewn/prune/gate.h"
#include "hewn/prune/score/score.h"
#include "hewn/prune/sparse_weight.h"
#include "hewn/prune/weight_slot.h"

namespace hewn::prune {

struct Layer;
class GateGroup;

/// Says whether a layer should run on its kept blocks only when that fraction of its blocks is active.
using Execution = std::function<bool(const Layer& layer, double density)>;

/// One pruned layer: its weight, how its blocks are scored, and which of them are active.
struct Layer {
  std::string name;
  ScoredWeight weight;
  std::shared_ptr<Score> score;
  at::Tensor costs;                        // int64 per block, under a budget with a limit
  at::Tensor support;                      // uint8 per block; undefined while all are active
  at::Tensor support_memory;               // where support lies whenever it is defined, once it was
  std::shared_ptr<SparseWeight> sparse;    // of this support; null while the layer runs dense
  std::shared_ptr<const KeptBlocks> kept;  // the same on a GPU
  WeightSlot slot;
  c10::intrusive_ptr<GateMemory> memory = c10::make_intrusive<GateMemory>();
  std::shared_ptr<GateGroup> group;  // on a GPU: with whom its weight is gated, and as which of them
  size_t place = 0;

  /// Makes the chosen blocks the active ones (undefined: all), on kept blocks alone where `execution` says
  /// so.
  void set_support(const at::Tensor& chosen, const Execution& execution);
  /// Sets the weights of dropped blocks to zero.
  void drop();
  /// Gives the layer its weight for the next forward pass: kept blocks alone, or all of them with zeros
  /// between; on a GPU in bf16 where asked for.
  void show(bool bf16) const;
  /// Lets a score that wants them see the layer's inputs from the next forward pass on, or stops that.
  void listen(bool on) const;
  /// The weight behind its gate, differentiable; on a GPU in bf16 where asked for.
  at::Tensor gated(bool bf16) const;
  /// Makes the gated values the leaf's own and opens the gate.
  void fold();

 private:
  at::Tensor gated_alone(bool bf16) const;
};

}  // namespace hewn::prune
