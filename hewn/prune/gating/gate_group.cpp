#include "hewn/prune/gating/gate_group.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "hewn/prune/gating/gate_all.h"
#include "hewn/prune/layer.h"

namespace hewn::prune {
namespace {

// A group's gradients come when the last of them is known. This is about what DistributedDataParallel sends
// at once (25 MB): while one group's gradients travel, the next one's are computed.
constexpr int64_t kMostWeights = 6'500'000;

/// A backward pass through some layers of a group comes by what the others depend on too, and frees what is
/// saved there: only leaves have nothing to lose.
bool can_join(const Layer& layer) {
  if (layer.score->sees_gradients()) return false;
  if (layer.score->attention() != nullptr) return true;
  const at::Tensor gate = layer.score->gate(layer.weight);
  return !gate.defined() || gate.is_leaf();
}

}  // namespace

GateGroup::GateGroup(const std::vector<const Layer*>& layers) {
  for (const Layer* layer : layers) members_.push_back({layer});
}

at::Tensor GateGroup::take(size_t place, bool bf16) {
  Member& member = members_[place];
  const bool known = bf16_ == bf16 && queue_ == tensor::current_queue(member.layer->weight.leaf);
  if (!known || !is_current(member)) {
    compute(bf16);
  } else if (!member.shown.defined()) {
    if (std::any_of(members_.begin(), members_.end(), waits)) return {};
    compute(bf16);
  }
  return std::exchange(member.shown, at::Tensor());
}

bool GateGroup::is_current(const Member& member) {
  return member.support.is_same(member.layer->support) && member.version == version_of(*member.layer);
}

bool GateGroup::waits(const Member& member) { return member.shown.defined() && is_current(member); }

/// Versions only grow, so that their sum tells whether one of them has.
int64_t GateGroup::version_of(const Layer& layer) {
  int64_t sum = layer.weight.leaf._version();
  if (layer.support.defined()) sum += layer.support._version();
  for (const ScoreParameter& parameter : layer.score->parameters()) sum += parameter.tensor._version();
  return sum;
}

void GateGroup::compute(bool bf16) {
  std::vector<ToGate> weights;
  std::vector<Member*> owners;
  const at::Tensor& first = members_.front().layer->weight.leaf;
  for (Member& member : members_) {
    const Layer& layer = *member.layer;
    member.shown = at::Tensor();
    if (layer.weight.leaf.device() != first.device()) continue;  // moved since, which somebody else reports
    ToGate weight{layer.weight.leaf, layer.support, layer.weight.layout};
    if (const ClampedAttention* attention = layer.score->attention()) {
      weight.attention = *attention;
    } else {
      weight.gate = layer.score->gate(layer.weight);
    }
    member.shown = layer.weight.leaf;
    member.support = layer.support;
    member.version = version_of(layer);
    if (!weight.has_gate() && !layer.support.defined()) continue;
    weights.push_back(std::move(weight));
    owners.push_back(&member);
  }
  bf16_ = bf16;
  queue_ = tensor::current_queue(first);
  if (weights.empty()) return;
  std::vector<at::Tensor> shown = block_scale(std::move(weights), bf16);
  for (size_t i = 0; i < owners.size(); ++i) owners[i]->shown = std::move(shown[i]);
}

void join_groups(std::vector<Layer>& layers) {
  std::vector<Layer*> members;
  int64_t weights = 0;
  const auto close = [&] {
    if (members.size() > 1) {
      const auto group =
          std::make_shared<GateGroup>(std::vector<const Layer*>(members.begin(), members.end()));
      for (size_t i = 0; i < members.size(); ++i) {
        members[i]->group = group;
        members[i]->place = i;
      }
    }
    members.clear();
    weights = 0;
  };
  for (Layer& layer : layers) {
    const at::Tensor& leaf = layer.weight.leaf;
    if (!leaf.is_cuda() || !can_join(layer)) continue;
    const bool near = members.empty() || leaf.device() == members.front()->weight.leaf.device();
    if (!near || weights + leaf.numel() > kMostWeights) close();
    members.push_back(&layer);
    weights += leaf.numel();
  }
  close();
}

}  // namespace hewn::prune
