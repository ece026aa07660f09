#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "hewn/tensor/stream.h"

namespace hewn::prune {

struct Layer;

/// The gated weights of many layers, computed together: in a network of small layers a step of autograd and a
/// launch for each cost more than what they compute. The first layer that asks in a forward pass has the
/// weights of all computed.
class GateGroup {
 public:
  /// Layers on one device, which outlive the group; their gates are leaves, attention on a GPU, or 1.
  explicit GateGroup(const std::vector<const Layer*>& layers);

  /// A layer's weight behind its gate, differentiable in weight and score as they are now; on a GPU in bf16
  /// where asked for. Each that was computed is given out once. Undefined where a layer asks again while
  /// others still have to: then it is read several times in a pass, and its weight alone is wanted.
  at::Tensor take(size_t place, bool bf16);

 private:
  struct Member {
    const Layer* layer;
    at::Tensor shown = {};    // computed and not given out; undefined: none
    at::Tensor support = {};  // the layer's at that time
    int64_t version = -1;     // of weight, support and logits at that time
  };
  /// Whether nothing has changed since its weight was computed.
  static bool is_current(const Member& member);
  /// Whether it is, and was not given out.
  static bool waits(const Member& member);
  static int64_t version_of(const Layer& layer);
  void compute(bool bf16);

  std::vector<Member> members_;
  bool bf16_ = false;
  tensor::Queue queue_;  // where they were computed
};

/// Makes groups of neighbours on a GPU, of those layers that can be in one, and tells them.
void join_groups(std::vector<Layer>& layers);

}  // namespace hewn::prune
