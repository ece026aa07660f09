#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/score/score.h"
#include "hewn/tensor/stream.h"

namespace hewn::prune {
namespace {

/// The gate is attention; blocks are ranked by log A + log norm(W), the norm of the gated block. From scratch
/// it chooses about what attention alone does; in a trained network, where attention starts level, it begins
/// with what the weights say.
class GatedNorm final : public Score {
 public:
  explicit GatedNorm(std::unique_ptr<Score> attention) : attention_(std::move(attention)) {}

  at::Tensor gate(const ScoredWeight& weight) const override { return attention_->gate(weight); }

  at::Tensor importance(const ScoredWeight& weight) const override {
    const at::NoGradGuard no_grad;
    const at::Tensor logits = attention_->importance(weight);
    if (!logits.is_cuda()) {
      // Blocks of zeros rank last, and among themselves by attention.
      return logits + block_norms(weight.leaf, weight.layout).clamp_min(kernels::cuda::kLeastNorm).log();
    }
    at::Tensor out = at::empty_like(logits);
    kernels::cuda::gated_norms(weight.layout, weight.leaf.data_ptr<float>(), logits.data_ptr<float>(),
                               out.data_ptr<float>(), tensor::current_stream(logits));
    return out;
  }

  const ClampedAttention* attention() const override { return attention_->attention(); }
  void join(const std::shared_ptr<AttentionGroup>& group) override { attention_->join(group); }
  at::Tensor level(const ScoredWeight& weight) const override { return attention_->level(weight); }
  bool in_logarithms() const override { return true; }
  std::vector<ScoreParameter> parameters() const override { return attention_->parameters(); }

 private:
  std::unique_ptr<Score> attention_;
};

}  // namespace

std::unique_ptr<Score> make_gated_norm(const ScoredWeight& weight, const ScoreOptions& options) {
  return std::make_unique<GatedNorm>(make_score("attention", weight, options));
}

}  // namespace hewn::prune
