#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include "hewn/prune/gate.h"
#include "hewn/prune/score/power.h"

namespace hewn::prune {
namespace {

/// Attention on powerpropagated weights: the effective block is A norm(V)^(alpha-1) V, and blocks are ranked
/// by its norm. Attention learns which blocks matter; the power empties the others while they still train,
/// so that dropping them costs little.
class AttentionPower final : public Score {
 public:
  AttentionPower(std::unique_ptr<Score> attention, double alpha)
      : attention_(std::move(attention)), alpha_(alpha) {}

  at::Tensor gate(const ScoredWeight& weight) const override {
    return attention_->gate(weight) * block_norms(weight.leaf, weight.layout).pow(alpha_ - 1);
  }

  /// The logarithm of the norm, from attention before clamping.
  at::Tensor importance(const ScoredWeight& weight) const override {
    const at::NoGradGuard no_grad;
    constexpr double kTiny = 1e-30;  // a block of zeros ranks last, yet above those that may not be chosen
    return attention_->importance(weight) +
           alpha_ * block_norms(weight.leaf, weight.layout).clamp_min(kTiny).log();
  }

  void join(const std::shared_ptr<AttentionGroup>& group) override { attention_->join(group); }
  at::Tensor level(const ScoredWeight& weight) const override { return attention_->level(weight); }
  bool in_logarithms() const override { return true; }
  std::vector<ScoreParameter> parameters() const override { return attention_->parameters(); }
  bool learns_from_zero() const override { return false; }

 private:
  std::unique_ptr<Score> attention_;
  double alpha_;
};

}  // namespace

std::unique_ptr<Score> make_attention_power(const ScoredWeight& weight, const ScoreOptions& options) {
  lift_to_power(weight, options.alpha);
  return std::make_unique<AttentionPower>(make_score("attention", weight, options), options.alpha);
}

}  // namespace hewn::prune
