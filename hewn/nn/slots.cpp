#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "hewn/nn/model.h"
#include "hewn/prune/gate.h"

namespace hewn::nn {

std::vector<prune::WeightSlot> find_slots(torch::nn::Module& module) {
  std::vector<prune::WeightSlot> slots;
  for (const auto& item : module.named_modules()) {
    if (auto* linear = item.value()->as<torch::nn::LinearImpl>()) {
      slots.push_back({item.key(), linear->weight, [linear](const at::Tensor& w) { linear->weight = w; }});
    } else if (auto* conv = item.value()->as<torch::nn::Conv2dImpl>()) {
      if (conv->options.groups() != 1) continue;
      slots.push_back({item.key(), conv->weight, [conv](const at::Tensor& w) { conv->weight = w; }});
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

bool has_normalisation(const torch::nn::Module& module) {
  for (const auto& child : module.modules(/*include_self=*/false)) {
    if (child->as<torch::nn::BatchNorm2dImpl>() != nullptr ||
        child->as<torch::nn::BatchNorm1dImpl>() != nullptr ||
        child->as<torch::nn::LayerNormImpl>() != nullptr ||
        child->as<torch::nn::GroupNormImpl>() != nullptr) {
      return true;
    }
  }
  return false;
}

}  // namespace hewn::nn
