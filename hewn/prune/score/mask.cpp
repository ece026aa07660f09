#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>

#include "hewn/prune/gate.h"
#include "hewn/prune/score/score.h"

namespace hewn::prune {
namespace {

/// A factor per block, started at 1. Penalised by its square it acts as group LASSO, by its absolute value as
/// the l_{2/3} penalty (paper, Lemma 2).
class Mask final : public Score {
 public:
  Mask(const ScoredWeight& weight, bool l1)
      : mask_(at::ones({weight.blocks()}, weight.leaf.options()).set_requires_grad(true)), l1_(l1) {}

  at::Tensor gate(const ScoredWeight&) const override { return mask_; }
  at::Tensor importance(const ScoredWeight& weight) const override {
    const at::NoGradGuard no_grad;
    return mask_.abs() * block_norms(weight.leaf, weight.layout);
  }
  std::vector<ScoreParameter> parameters() const override { return {{"mask", mask_, l1_}}; }

 private:
  at::Tensor mask_;
  bool l1_;
};

}  // namespace

std::unique_ptr<Score> make_identity_mask(const ScoredWeight& weight, const ScoreOptions&) {
  return std::make_unique<Mask>(weight, false);
}

std::unique_ptr<Score> make_l1_mask(const ScoredWeight& weight, const ScoreOptions&) {
  return std::make_unique<Mask>(weight, true);
}

}  // namespace hewn::prune
