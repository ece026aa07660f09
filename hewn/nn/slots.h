#pragma once

#include <vector>

#include "hewn/prune/plan.h"
#include "hewn/prune/weight_slot.h"

namespace torch::nn {
class Module;
}

namespace hewn::nn {

struct SlotOptions {
  bool embeddings = false;  // the tables of Embedding layers too
};

/// The prunable weights of any LibTorch module, in the order in which they were registered: those of Linear,
/// Conv1d and Conv2d layers (with groups: each group by itself) by the name of the layer, and the projections
/// of MultiheadAttention, packed or not, as LAYER.in_proj or LAYER.q_proj, .k_proj and .v_proj. The
/// registered parameter stays the leaf; `set` replaces the module's member. A parameter of several layers is
/// one slot, under the first one's name, and `set` reaches them all.
std::vector<prune::WeightSlot> find_slots(torch::nn::Module& module, const SlotOptions& options = {});

/// Their shapes, for planning.
std::vector<prune::WeightShape> weight_shapes(const std::vector<prune::WeightSlot>& slots);

/// Whether the parameter is one of the module's embedding tables that are updated row by row.
bool is_embedding(const torch::nn::Module& module, const at::Tensor& parameter);

/// Whether the module has a normalisation layer.
bool has_normalisation(const torch::nn::Module& module);

}  // namespace hewn::nn
