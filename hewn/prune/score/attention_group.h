#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "hewn/tensor/stream.h"

namespace hewn::prune {

/// The attention of many layers on a GPU, in one launch forward and one backward: in a network of small
/// layers launching is what costs. The first layer that asks in a forward pass computes the gates of all.
class AttentionGroup {
 public:
  /// Returns the layer's number. Attention is clamped to [low, high].
  size_t add(const at::Tensor& logits, double low, double high);
  /// That layer's gate, differentiable in its logits as they are now. Each that was computed is given out
  /// once.
  at::Tensor gate(size_t layer);

 private:
  struct Member {
    at::Tensor logits;
    float low = 0;
    float high = 0;
    at::Tensor gate = {};  // computed and not given out; undefined: none
    uint32_t version = 0;  // of the logits it was computed from
  };
  void compute_all();

  std::vector<Member> members_;
  tensor::Queue queue_;  // where the gates were computed
};

}  // namespace hewn::prune
