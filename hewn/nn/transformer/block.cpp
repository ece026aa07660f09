#include "hewn/nn/transformer/block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <torch/nn/init.h>

#include <cmath>
#include <limits>

namespace hewn::nn {
namespace {

constexpr double kNormEpsilon = 1e-6;
constexpr double kStartDeviation = 0.02;

}  // namespace

torch::nn::LayerNorm transformer_norm(int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(kNormEpsilon));
}

Attention::Attention(int64_t width, int64_t heads, Sight sight)
    : heads_(heads),
      sight_(sight),
      qkv_(register_module("qkv", Linear(width, 3 * width))),
      proj_(register_module("proj", Linear(width, width))) {}

at::Tensor Attention::forward(const at::Tensor& x) {
  const int64_t samples = x.size(0);
  const int64_t tokens = x.size(1);
  const int64_t width = x.size(2) / heads_;
  // 3 x N x heads x tokens x width of a head.
  const at::Tensor parts = qkv_(x).reshape({samples, tokens, 3, heads_, width}).permute({2, 0, 3, 1, 4});
  const at::Tensor query = parts[0] * (1 / std::sqrt(static_cast<double>(width)));
  at::Tensor scores = query.matmul(parts[1].transpose(2, 3));
  if (sight_ == Sight::kEarlier) {
    const at::Tensor later = at::ones({tokens, tokens}, x.options().dtype(at::kBool)).triu(1);
    scores = scores.masked_fill(later, -std::numeric_limits<double>::infinity());
  }
  const at::Tensor weights = at::softmax(scores, -1);
  return proj_(weights.matmul(parts[2]).transpose(1, 2).reshape({samples, tokens, heads_ * width}));
}

class TransformerBlock::Mlp final : public torch::nn::Module {
 public:
  explicit Mlp(int64_t width)
      : fc1_(register_module("fc1", Linear(width, 4 * width))),
        fc2_(register_module("fc2", Linear(4 * width, width))) {}
  at::Tensor forward(const at::Tensor& x) { return fc2_(at::gelu(fc1_(x))); }

 private:
  Linear fc1_;
  Linear fc2_;
};

TransformerBlock::TransformerBlock(int64_t width, int64_t heads, Sight sight)
    : norm1_(register_module("norm1", transformer_norm(width))),
      attn_(register_module("attn", std::make_shared<Attention>(width, heads, sight))),
      norm2_(register_module("norm2", transformer_norm(width))),
      mlp_(register_module("mlp", std::make_shared<Mlp>(width))) {}

at::Tensor TransformerBlock::forward(const at::Tensor& input) {
  const at::Tensor x = input + attn_->forward(norm1_(input));
  return x + mlp_->forward(norm2_(x));
}

void initialise_narrow(at::Tensor& tensor) { torch::nn::init::normal_(tensor, 0, kStartDeviation); }

void initialise_transformer(torch::nn::Module& module) {
  for (const auto& child : module.modules(/*include_self=*/false)) {
    if (auto* linear = child->as<torch::nn::LinearImpl>()) {
      initialise_narrow(linear->weight);
      torch::nn::init::zeros_(linear->bias);
    }
  }
}

}  // namespace hewn::nn
