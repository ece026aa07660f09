#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/normalization.h>

#include "hewn/nn/batch_norm.h"
#include "hewn/nn/embedding.h"
#include "hewn/nn/layers.h"
#include "hewn/prune/gate.h"

namespace hewn::nn {

namespace {

/// A slot of a module that can run sparse: what is set last counts.
template <class Layer>
prune::WeightSlot sparse_slot(const std::string& name, Layer* layer) {
  return {name,
          layer->weight,
          [layer](const at::Tensor& weight) {
            layer->weight = weight;
            layer->run_on(nullptr);
          },
          [layer](const std::shared_ptr<prune::SparseWeight>& weight) { layer->run_on(weight); },
          [layer](const prune::SeeInput& see) { layer->watch(see); },
          [layer](const at::Tensor& input) { return input_rows(*layer, input); }};
}

template <class Layer>
prune::WeightSlot dense_slot(const std::string& name, Layer* layer) {
  return {name, layer->weight, [layer](const at::Tensor& weight) { layer->weight = weight; }};
}

}  // namespace

std::vector<prune::WeightSlot> find_slots(torch::nn::Module& module) {
  std::vector<prune::WeightSlot> slots;
  for (const auto& item : module.named_modules()) {
    torch::nn::Module* layer = item.value().get();
    if (auto* own_linear = layer->as<LinearImpl>()) {
      slots.push_back(sparse_slot(item.key(), own_linear));
    } else if (auto* linear = layer->as<torch::nn::LinearImpl>()) {
      slots.push_back(dense_slot(item.key(), linear));
    } else if (auto* own_conv = layer->as<Conv2dImpl>(); own_conv != nullptr && geometry_of(*own_conv)) {
      slots.push_back(sparse_slot(item.key(), own_conv));
    } else if (auto* conv = layer->as<torch::nn::Conv2dImpl>()) {
      if (conv->options.groups() == 1) slots.push_back(dense_slot(item.key(), conv));
    }
  }
  return slots;
}

std::vector<prune::WeightShape> weight_shapes(const std::vector<prune::WeightSlot>& slots) {
  std::vector<prune::WeightShape> shapes;
  for (const prune::WeightSlot& slot : slots) {
    shapes.push_back({slot.name, slot.leaf.sizes().vec(), prune::layout_of(slot.leaf, BlockShape{}).grid});
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
