#include <ATen/TensorOperators.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "hewn/prune/score/score.h"

namespace hewn::prune {
namespace {

/// A = n softmax(L) over the n blocks of a layer (paper, Algorithm 1). L starts at 0, so A starts at 1.
class Attention final : public Score {
 public:
  Attention(const ScoredWeight& weight, bool clip)
      : logits_(at::zeros({weight.blocks()}, weight.leaf.options()).set_requires_grad(true)), clip_(clip) {}

  at::Tensor gate(const ScoredWeight& weight) const override {
    const at::Tensor attention = at::softmax(logits_, 0) * static_cast<double>(weight.blocks());
    return clip_ ? attention.clamp(weight.density(), 1 / weight.density()) : attention;
  }

  /// log A before clamping: it ranks like the logits, so that clamping never creates ties, and its scale is
  /// the same in every layer.
  at::Tensor importance(const ScoredWeight& weight) const override {
    const at::Tensor logits = logits_.detach();
    return logits - logits.logsumexp(0) + std::log(static_cast<double>(weight.blocks()));
  }

  std::vector<ScoreParameter> parameters() const override { return {{"logits", logits_}}; }

 private:
  at::Tensor logits_;
  bool clip_;
};

}  // namespace

std::unique_ptr<Score> make_attention(const ScoredWeight& weight, const ScoreOptions& options) {
  return std::make_unique<Attention>(weight, options.clip);
}

}  // namespace hewn::prune
