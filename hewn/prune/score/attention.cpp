#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/score/score.h"
#include "hewn/tensor/stream.h"

namespace hewn::prune {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr double kLeastShare = 1e-3;  // of the mean norm, where logits start from norms

/// Attention and its clamp in one launch forward and one backward: in many small layers launching is what
/// costs.
struct OnGpu : torch::autograd::Function<OnGpu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& logits, double low, double high) {
    const at::Tensor attention = at::empty_like(logits);
    at::Tensor gate = at::empty_like(logits);
    kernels::cuda::attention(logits.data_ptr<float>(), logits.numel(), low, high, attention.data_ptr<float>(),
                             gate.data_ptr<float>(), tensor::current_stream(logits));
    context->save_for_backward({attention});
    context->saved_data["low"] = low;
    context->saved_data["high"] = high;
    return gate;
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const at::Tensor attention = context->get_saved_variables()[0];
    const at::Tensor grad = grads[0].contiguous();
    at::Tensor out = at::empty_like(attention);
    kernels::cuda::attention_backward(attention.data_ptr<float>(), grad.data_ptr<float>(), attention.numel(),
                                      context->saved_data["low"].toDouble(),
                                      context->saved_data["high"].toDouble(), out.data_ptr<float>(),
                                      tensor::current_stream(attention));
    return {out, at::Tensor(), at::Tensor()};
  }
};

/// A = n softmax(L) over the n blocks of a layer (paper, Algorithm 1). L starts at 0, so A starts at 1.
class Attention final : public Score {
 public:
  Attention(const ScoredWeight& weight, const AttentionClip& clip)
      : logits_(at::zeros({weight.blocks()}, weight.leaf.options()).set_requires_grad(true)), clip_(clip) {}

  at::Tensor gate(const ScoredWeight& weight) const override {
    const double low = clip_.on ? clip_.low.value_or(weight.density()) : 0.0;
    const double high =
        clip_.on ? clip_.high.value_or(1 / weight.density()) : std::numeric_limits<double>::infinity();
    if (logits_.is_cuda()) return OnGpu::apply(logits_, low, high);
    const at::Tensor attention = at::softmax(logits_, 0) * static_cast<double>(weight.blocks());
    return clip_.on ? attention.clamp(low, high) : attention;
  }

  /// The logits: they rank like attention before clamping, so that clamping never creates ties.
  at::Tensor importance(const ScoredWeight&) const override { return logits_.detach(); }
  /// Makes the logits log A, whose scale is the same in every layer.
  at::Tensor level(const ScoredWeight& weight) const override {
    return std::log(static_cast<double>(weight.blocks())) - logits_.detach().logsumexp(0);
  }
  bool in_logarithms() const override { return true; }

  std::vector<ScoreParameter> parameters() const override { return {{"logits", logits_}}; }

 private:
  at::Tensor logits_;
  AttentionClip clip_;
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
