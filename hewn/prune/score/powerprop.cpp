#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include "hewn/core/error.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/score/power.h"

namespace hewn::prune {
namespace {

/// Group powerpropagation: the effective block is norm(V)^(alpha-1) V.
class Powerprop final : public Score {
 public:
  explicit Powerprop(double alpha) : alpha_(alpha) {}

  at::Tensor gate(const ScoredWeight& weight) const override {
    return block_norms(weight.leaf, weight.layout).pow(alpha_ - 1);
  }
  at::Tensor importance(const ScoredWeight& weight) const override {
    const at::NoGradGuard no_grad;
    return block_norms(weight.leaf, weight.layout).pow(alpha_);
  }
  bool learns_from_zero() const override { return false; }

 private:
  double alpha_;
};

}  // namespace

void lift_to_power(const ScoredWeight& weight, double alpha) {
  if (alpha <= 1) throw Error(str("alpha: expected a number above 1, got ", alpha));
  const at::NoGradGuard no_grad;
  const at::Tensor norms = block_norms(weight.leaf, weight.layout);
  const at::Tensor factor = norms.pow((1 - alpha) / alpha).masked_fill_(norms == 0, 1);
  at::Tensor leaf = weight.leaf;
  leaf.copy_(block_scale(leaf, factor, at::Tensor(), weight.layout));
}

std::unique_ptr<Score> make_powerprop(const ScoredWeight& weight, const ScoreOptions& options) {
  lift_to_power(weight, options.alpha);
  return std::make_unique<Powerprop>(options.alpha);
}

}  // namespace hewn::prune
