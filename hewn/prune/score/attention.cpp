#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/prune/score/score.h"
#include "hewn/tensor/stream.h"

namespace hewn::prune {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

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
  Attention(const ScoredWeight& weight, bool clip)
      : logits_(at::zeros({weight.blocks()}, weight.leaf.options()).set_requires_grad(true)), clip_(clip) {}

  at::Tensor gate(const ScoredWeight& weight) const override {
    const double most = clip_ ? 1 / weight.density() : std::numeric_limits<double>::infinity();
    if (logits_.is_cuda()) return OnGpu::apply(logits_, clip_ ? weight.density() : 0.0, most);
    const at::Tensor attention = at::softmax(logits_, 0) * static_cast<double>(weight.blocks());
    return clip_ ? attention.clamp(weight.density(), most) : attention;
  }

  /// log A before clamping: it ranks like the logits, so that clamping never creates ties, and its scale is
  /// the same in every layer.
  at::Tensor importance(const ScoredWeight& weight) const override {
    const at::Tensor logits = logits_.detach();
    if (!logits.is_cuda()) {
      return logits - logits.logsumexp(0) + std::log(static_cast<double>(weight.blocks()));
    }
    at::Tensor out = at::empty_like(logits);
    kernels::cuda::log_attention(logits.data_ptr<float>(), logits.numel(), out.data_ptr<float>(),
                                 tensor::current_stream(logits));
    return out;
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
