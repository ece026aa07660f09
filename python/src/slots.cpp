#include "slots.h"

#include <ATen/ops/im2col.h>

#include "hewn/core/error.h"
#include "hewn/nn/sparse_conv.h"
#include "hewn/nn/sparse_linear.h"
#include "hewn/prune/gate.h"
#include "hewn/tensor/autocast.h"
#include "kept.h"

namespace hewn::python {
namespace {

/// The rows x for which the layer computes x W; see nn::input_rows.
at::Tensor rows_of(const Slot& slot, const at::Tensor& input) {
  if (!slot.geometry) return input.reshape({-1, slot.leaf.size(1)});
  const kernels::ConvGeometry& g = *slot.geometry;
  const at::Tensor columns = at::im2col(input, {g.kernel_height, g.kernel_width}, {g.dilation, g.dilation},
                                        {g.padding, g.padding}, {g.stride, g.stride});
  return columns.view({input.size(0), input.size(1), g.taps(), columns.size(2)})
      .permute({0, 3, 2, 1})
      .reshape({-1, g.taps() * input.size(1)});
}

prune::WeightSlot weight_slot(const std::shared_ptr<Slot>& slot) {
  prune::WeightSlot out{slot->name, slot->leaf, [](const at::Tensor&) {}};
  out.groups = slot->groups;
  if (!slot->linear && !slot->geometry) return out;
  out.set_sparse = [](const std::shared_ptr<prune::SparseWeight>&) {};
  out.watch = [slot](const prune::SeeInput& see) { slot->see = see; };
  out.rows = [slot](const at::Tensor& input) { return rows_of(*slot, input); };
  return out;
}

std::shared_ptr<nn::SparseLayer> form_of(const Slot& slot,
                                         const std::shared_ptr<prune::SparseWeight>& blocks) {
  if (slot.geometry) return std::make_shared<nn::SparseConv>(blocks, *slot.geometry);
  return std::make_shared<nn::SparseLinear>(blocks);
}

}  // namespace

Network network_of(const std::vector<std::shared_ptr<Slot>>& slots,
                   std::vector<std::pair<std::string, at::Tensor>> parameters) {
  Network network{{}, std::move(parameters), {}, {}};
  for (const std::shared_ptr<Slot>& slot : slots) network.slots.push_back(weight_slot(slot));
  return network;
}

void check_place(const prune::Layer& layer, const at::Tensor& leaf) {
  const std::vector<prune::ScoreParameter> parameters = layer.score->parameters();
  const bool moved = (!parameters.empty() && parameters.front().tensor.device() != leaf.device()) ||
                     (layer.support.defined() && layer.support.device() != leaf.device());
  if (moved || prune::layout_on(leaf, layer.weight.layout.grid).taps != layer.weight.layout.taps) {
    throw Error(hewn::str("layer ", layer.name, ": its weight has another device or memory format than when ",
                          "the pruner was made; make the pruner after model.to(...)"));
  }
}

prune::ScoredWeight PrunedLayer::weight_of(const at::Tensor& leaf) const {
  check_place(*layer_, leaf);
  return {leaf, layer_->weight.layout, layer_->weight.keep};
}

bool PrunedLayer::takes_part() const {
  const bool known = slot_->linear || slot_->geometry.has_value();
  return known && (layer_->weight.leaf.is_cpu() || layer_->score->sees_inputs());
}

at::Tensor PrunedLayer::gate(const at::Tensor& leaf) const { return layer_->score->gate(weight_of(leaf)); }

at::Tensor PrunedLayer::gated(const at::Tensor& leaf) const {
  // Where autocast would convert it right away it comes in bf16, which saves that pass.
  const bool bf16 = leaf.is_cuda() && leaf.scalar_type() == at::kFloat && tensor::autocast_to_bf16();
  const prune::ScoredWeight weight = weight_of(leaf);
  if (leaf.is_same(layer_->weight.leaf)) return layer_->gated(bf16);
  const at::Tensor gate = layer_->score->gate(weight);
  if (!gate.defined() && !layer_->support.defined()) return leaf;
  return prune::block_scale(leaf, gate, layer_->support, weight.layout, bf16, layer_->memory);
}

at::Tensor PrunedLayer::run(const at::Tensor& x, const at::Tensor& bias, bool compact) {
  const std::shared_ptr<prune::SparseWeight>& sparse = layer_->sparse;
  if (slot_->on_blocks == nullptr || &slot_->on_blocks->weight() != sparse.get()) {
    slot_->on_blocks = form_of(*slot_, sparse);
  }
  const at::Tensor gate = layer_->score->gate(layer_->weight);
  if (compact) {
    sparse->gate = gate;
    return slot_->on_blocks->forward(x, bias);
  }
  return multiply(slot_->on_blocks, x, kept_values(layer_->weight.leaf, gate, sparse), bias);
}

}  // namespace hewn::python
