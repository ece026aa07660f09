#include <ATen/core/grad_mode.h>

#include "hewn/prune/gate.h"
#include "hewn/prune/score/score.h"

namespace hewn::prune {
namespace {

class Magnitude final : public Score {
 public:
  at::Tensor gate(const ScoredWeight&) const override { return {}; }
  at::Tensor importance(const ScoredWeight& weight) const override {
    const at::NoGradGuard no_grad;
    return block_norms(weight.leaf, weight.layout);
  }
};

}  // namespace

std::unique_ptr<Score> make_magnitude(const ScoredWeight&, const ScoreOptions&) {
  return std::make_unique<Magnitude>();
}

}  // namespace hewn::prune
