#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "hewn/kernels/packed.h"
#include "hewn/nn/sparse_layer.h"
#include "hewn/pruner.h"

namespace hewn::python {

/// A weight of a Python module, and what its layer would need to run on kept blocks.
struct Slot {
  std::string name;
  at::Tensor leaf;
  int64_t groups = 1;
  bool linear = false;                                   // a Linear layer
  std::optional<kernels::ConvGeometry> geometry = {};    // a Conv2d layer that the kernels can run
  prune::SeeInput see = {};                              // set while a score looks at inputs
  std::shared_ptr<nn::SparseLayer> on_blocks = nullptr;  // made when first needed, for one support
};

/// The network of Python's modules: `set` is nothing, since their layers ask for their weights.
Network network_of(const std::vector<std::shared_ptr<Slot>>& slots,
                   std::vector<std::pair<std::string, at::Tensor>> parameters);

/// A pruner with the Python modules' slots.
struct PrunerOfSlots {
  std::unique_ptr<Pruner> pruner;
  std::vector<std::shared_ptr<Slot>> slots;
};

/// The kernels take pointers: throws Error where a weight has moved since the pruner was made.
void check_place(const prune::Layer& layer, const at::Tensor& leaf);

/// A pruned layer, as its module asks for what it computes with.
class PrunedLayer {
 public:
  PrunedLayer(std::shared_ptr<PrunerOfSlots> owner, const prune::Layer* layer, std::shared_ptr<Slot> slot)
      : owner_(std::move(owner)), layer_(layer), slot_(std::move(slot)) {}

  const prune::Layer& layer() const { return *layer_; }
  /// The weight of that leaf, this layer's or a copy of it, behind the gate; differentiable.
  at::Tensor gated(const at::Tensor& leaf) const;
  at::Tensor gate(const at::Tensor& leaf) const;
  const at::Tensor& support() const { return layer_->support; }
  bool on_blocks() const { return layer_->sparse != nullptr; }
  /// Whether the module has to ask here before it runs: for kept blocks, or since a score sees its inputs.
  bool takes_part() const;
  /// What the layer gives on its kept blocks alone. `compact`: the weight's gradient stays with them, where
  /// hewn::Optimiser looks for it; else it is the leaf's.
  at::Tensor run(const at::Tensor& x, const at::Tensor& bias, bool compact);
  bool listening() const { return static_cast<bool>(slot_->see); }
  void see(const at::Tensor& input) const { slot_->see(input); }

 private:
  prune::ScoredWeight weight_of(const at::Tensor& leaf) const;

  std::shared_ptr<PrunerOfSlots> owner_;
  const prune::Layer* layer_;
  std::shared_ptr<Slot> slot_;
};

}  // namespace hewn::python
