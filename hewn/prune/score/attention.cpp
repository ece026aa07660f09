#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

#include "hewn/prune/gate.h"
#include "hewn/prune/score/attention_group.h"
#include "hewn/prune/score/score.h"

namespace hewn::prune {
namespace {

constexpr double kLeastShare = 1e-3;  // of the mean norm, where logits start from norms

/// A = n softmax(L) over the n blocks of a layer (paper, Algorithm 1). L starts at 0, so A starts at 1.
class Attention final : public Score {
 public:
  Attention(const ScoredWeight& weight, const AttentionClip& clip)
      : clamped_{at::zeros({weight.blocks()}, weight.leaf.options()).set_requires_grad(true),
                 clip.on ? clip.low.value_or(weight.density()) : 0.0,
                 clip.on ? clip.high.value_or(1 / weight.density())
                         : std::numeric_limits<double>::infinity()},
        clips_(clip.on) {
    join(std::make_shared<AttentionGroup>());
  }

  void join(const std::shared_ptr<AttentionGroup>& group) override {
    if (!clamped_.logits.is_cuda()) return;
    group_ = group;
    place_ = group->add(clamped_.logits, clamped_.low, clamped_.high);
  }

  at::Tensor gate(const ScoredWeight& weight) const override {
    if (group_ != nullptr) return group_->gate(place_);
    const at::Tensor attention = at::softmax(clamped_.logits, 0) * static_cast<double>(weight.blocks());
    return clips_ ? attention.clamp(clamped_.low, clamped_.high) : attention;
  }

  const ClampedAttention* attention() const override { return group_ == nullptr ? nullptr : &clamped_; }

  /// The logits: they rank like attention before clamping, so that clamping never creates ties.
  at::Tensor importance(const ScoredWeight&) const override { return clamped_.logits.detach(); }
  /// Makes the logits log A, whose scale is the same in every layer.
  at::Tensor level(const ScoredWeight& weight) const override {
    return std::log(static_cast<double>(weight.blocks())) - clamped_.logits.detach().logsumexp(0);
  }
  bool in_logarithms() const override { return true; }

  std::vector<ScoreParameter> parameters() const override { return {{"logits", clamped_.logits}}; }

 private:
  ClampedAttention clamped_;
  bool clips_;
  std::shared_ptr<AttentionGroup> group_;  // on a GPU
  size_t place_ = 0;
};

/// Lets attention begin with what the blocks' norms say, and takes it out of the weights again, so that the
/// network computes what it did. Blocks far below the mean would begin where no gradient reaches them.
void start_from_norms(const Score& score, const ScoredWeight& weight, double power) {
  const at::NoGradGuard no_grad;
  const at::Tensor norms = block_norms(weight.leaf, weight.layout);
  const at::Tensor start = norms.clamp_min(norms.mean() * kLeastShare).log() * power;
  at::Tensor logits = score.parameters().front().tensor;
  logits.copy_(start - start.mean());
  at::Tensor leaf = weight.leaf;
  leaf.copy_(block_scale(leaf, score.gate(weight).reciprocal(), at::Tensor(), weight.layout));
}

}  // namespace

std::unique_ptr<Score> make_attention(const ScoredWeight& weight, const ScoreOptions& options) {
  auto score = std::make_unique<Attention>(weight, options.clip);
  if (options.start != 0) start_from_norms(*score, weight, options.start);
  return score;
}

}  // namespace hewn::prune
