// Scores that look at gradients: baselines that the paper leaves out.
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include "hewn/prune/gate.h"
#include "hewn/prune/score/score.h"

namespace hewn::prune {
namespace {

// Share of the newest step in a running mean.
constexpr double kNewestStep = 0.01;

at::Tensor zero_per_block(const ScoredWeight& weight) {
  return at::zeros({weight.blocks()}, weight.leaf.options().requires_grad(false));
}

/// The first-order change of the loss when a block is dropped, sum(g w) over the block, as the root of its
/// mean square over steps: the diagonal of the Fisher information along the block (Molchanov et al. 2019).
/// Before the first gradient all blocks are equal.
class Taylor final : public Score {
 public:
  explicit Taylor(const ScoredWeight& weight) : squares_(zero_per_block(weight)) {}

  at::Tensor gate(const ScoredWeight&) const override { return {}; }
  at::Tensor importance(const ScoredWeight&) const override { return squares_.sqrt(); }
  std::vector<ScoreMemory> memory() const override { return {{"squares", squares_}}; }
  bool sees_gradients() const override { return true; }

  void see_gradient(const ScoredWeight& weight, const at::Tensor& gradient) override {
    const at::NoGradGuard no_grad;
    squares_.lerp_(block_dots(weight.leaf, gradient, weight.layout).square(), kNewestStep);
  }

 private:
  at::Tensor squares_;
};

/// Blocks stay by their norm and come back by the norm of their gradient, that of the last step alone
/// (Evci et al. 2020, RigL).
class Regrowth final : public Score {
 public:
  explicit Regrowth(const ScoredWeight& weight) : gradients_(zero_per_block(weight)) {}

  at::Tensor gate(const ScoredWeight&) const override { return {}; }
  at::Tensor importance(const ScoredWeight& weight) const override {
    const at::NoGradGuard no_grad;
    return block_norms(weight.leaf, weight.layout);
  }
  at::Tensor growth() const override { return gradients_; }
  std::vector<ScoreMemory> memory() const override { return {{"gradients", gradients_}}; }
  bool sees_gradients() const override { return true; }

  void see_gradient(const ScoredWeight& weight, const at::Tensor& gradient) override {
    const at::NoGradGuard no_grad;
    const at::Tensor exact = gradient.to(weight.leaf.scalar_type());
    gradients_.copy_(block_dots(exact, exact, weight.layout).sqrt());
  }

 private:
  at::Tensor gradients_;
};

}  // namespace

std::unique_ptr<Score> make_taylor(const ScoredWeight& weight, const ScoreOptions&) {
  return std::make_unique<Taylor>(weight);
}

std::unique_ptr<Score> make_regrowth(const ScoredWeight& weight, const ScoreOptions&) {
  return std::make_unique<Regrowth>(weight);
}

}  // namespace hewn::prune
