#include "hewn/nn/slots.h"

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/normalization.h>

#include <algorithm>

#include "hewn/nn/batch_norm.h"
#include "hewn/nn/embedding.h"
#include "hewn/nn/layers.h"
#include "hewn/prune/gate.h"

namespace hewn::nn {
namespace {

/// A slot of a module that can run sparse: what is set last counts.
template <class Layer>
prune::WeightSlot sparse_slot(const std::string& name, Layer* layer) {
  prune::WeightSlot slot{name, layer->weight, [layer](const at::Tensor& weight) {
                           layer->weight = weight;
                           layer->run_on(nullptr);
                           layer->run_on_kept(nullptr);
                         }};
  slot.set_sparse = [layer](const std::shared_ptr<prune::SparseWeight>& weight) { layer->run_on(weight); };
  slot.watch = [layer](const prune::SeeInput& see) { layer->watch(see); };
  slot.rows = [layer](const at::Tensor& input) { return input_rows(*layer, input); };
  slot.set_kept = [layer](const std::shared_ptr<const prune::KeptBlocks>& kept) { layer->run_on_kept(kept); };
  slot.takes_kept = [layer](const Grid& grid) { return has_kept_form(*layer, grid, at::kBFloat16); };
  return slot;
}

/// A slot of a module's member that is a plain tensor.
prune::WeightSlot plain_slot(const std::string& name, at::Tensor* member, int64_t groups = 1) {
  prune::WeightSlot slot{name, *member, [member](const at::Tensor& weight) { *member = weight; }};
  slot.groups = groups;
  return slot;
}

/// Packed: query, key and value one below the other, and no block lies in two of them.
std::vector<prune::WeightSlot> attention_slots(const std::string& name,
                                               torch::nn::MultiheadAttentionImpl* attention) {
  if (attention->in_proj_weight.defined())
    return {plain_slot(name + ".in_proj", &attention->in_proj_weight, 3)};
  return {plain_slot(name + ".q_proj", &attention->q_proj_weight),
          plain_slot(name + ".k_proj", &attention->k_proj_weight),
          plain_slot(name + ".v_proj", &attention->v_proj_weight)};
}

std::vector<prune::WeightSlot> slots_of(const std::string& name, torch::nn::Module* layer,
                                        const SlotOptions& options) {
  if (auto* own_linear = layer->as<LinearImpl>()) return {sparse_slot(name, own_linear)};
  if (auto* linear = layer->as<torch::nn::LinearImpl>()) return {plain_slot(name, &linear->weight)};
  if (auto* own_conv = layer->as<Conv2dImpl>(); own_conv != nullptr && geometry_of(*own_conv))
    return {sparse_slot(name, own_conv)};
  if (auto* conv = layer->as<torch::nn::Conv2dImpl>())
    return {plain_slot(name, &conv->weight, conv->options.groups())};
  if (auto* conv = layer->as<torch::nn::Conv1dImpl>())
    return {plain_slot(name, &conv->weight, conv->options.groups())};
  if (auto* attention = layer->as<torch::nn::MultiheadAttentionImpl>())
    return attention_slots(name, attention);
  auto* table = layer->as<torch::nn::EmbeddingImpl>();
  // Rows that come one by one have no gradient for a gate over blocks of rows.
  if (table != nullptr && options.embeddings && !table->options.sparse())
    return {plain_slot(name, &table->weight)};
  return {};
}

/// Makes what is set reach another layer with the same parameter. It can run sparse only where both can, and
/// then each would need its own kept blocks: such a pair runs dense.
void share(prune::WeightSlot& first, const prune::WeightSlot& second) {
  first.set = [one = first.set, other = second.set](const at::Tensor& weight) {
    one(weight);
    other(weight);
  };
  first.set_sparse = {};
  first.set_kept = {};
  first.takes_kept = {};
  first.watch = {};
  first.rows = {};
}

}  // namespace

std::vector<prune::WeightSlot> find_slots(torch::nn::Module& module, const SlotOptions& options) {
  std::vector<prune::WeightSlot> slots;
  // The module itself may live anywhere: LibTorch would ask for a shared pointer to it.
  std::vector<std::pair<std::string, torch::nn::Module*>> layers = {{"", &module}};
  for (const auto& item : module.named_modules(/*name_prefix=*/"", /*include_self=*/false)) {
    layers.emplace_back(item.key(), item.value().get());
  }
  for (const auto& [name, layer] : layers) {
    for (prune::WeightSlot& slot : slots_of(name, layer, options)) {
      const auto same = std::find_if(slots.begin(), slots.end(), [&](const prune::WeightSlot& known) {
        return known.leaf.is_same(slot.leaf);
      });
      if (same == slots.end()) {
        slots.push_back(std::move(slot));
      } else {
        share(*same, slot);
      }
    }
  }
  return slots;
}

std::vector<prune::WeightShape> weight_shapes(const std::vector<prune::WeightSlot>& slots) {
  std::vector<prune::WeightShape> shapes;
  for (const prune::WeightSlot& slot : slots) {
    shapes.push_back(
        {slot.name, slot.leaf.sizes().vec(), prune::layout_of(slot.leaf, BlockShape{}, slot.groups).grid});
  }
  return shapes;
}

bool is_embedding(const torch::nn::Module& module, const at::Tensor& parameter) {
  for (const auto& child : module.modules(/*include_self=*/false)) {
    const auto* table = child->as<EmbeddingTableImpl>();
    if (table != nullptr && table->weight.is_same(parameter)) return true;
  }
  return false;
}

bool has_normalisation(const torch::nn::Module& module) {
  for (const auto& child : module.modules(/*include_self=*/false)) {
    if (child->as<BatchNorm2dImpl>() != nullptr || child->as<torch::nn::BatchNorm2dImpl>() != nullptr ||
        child->as<torch::nn::BatchNorm1dImpl>() != nullptr ||
        child->as<torch::nn::LayerNormImpl>() != nullptr ||
        child->as<torch::nn::GroupNormImpl>() != nullptr) {
      return true;
    }
  }
  return false;
}

}  // namespace hewn::nn
