#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include "hewn/prune/score/score.h"

namespace hewn::prune {
namespace {

/// The unnormalised softmax: exp(L) per block (paper, Lemma 1).
class Exp final : public Score {
 public:
  explicit Exp(const ScoredWeight& weight)
      : logits_(at::zeros({weight.blocks()}, weight.leaf.options()).set_requires_grad(true)) {}

  at::Tensor gate(const ScoredWeight&) const override { return logits_.exp(); }
  at::Tensor importance(const ScoredWeight&) const override { return logits_.detach(); }
  std::vector<ScoreParameter> parameters() const override { return {{"logits", logits_}}; }

 private:
  at::Tensor logits_;
};

}  // namespace

std::unique_ptr<Score> make_exp(const ScoredWeight& weight, const ScoreOptions&) {
  return std::make_unique<Exp>(weight);
}

}  // namespace hewn::prune
