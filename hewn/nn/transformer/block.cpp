#include "hewn/nn/transformer/block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <torch/nn/init.h>

#include <cmath>
#include <limits>

#include "hewn/nn/describe.h"

namespace hewn::nn {
namespace {

constexpr double kNormEpsilon = 1e-6;
constexpr double kStartDeviation = 0.02;

}  // namespace

torch::nn::LayerNorm transformer_norm(int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(kNormEpsilon));
}

int32_t describe_norm(flow::Composer& to, const std::string& name, int32_t x,
                      const torch::nn::LayerNormImpl& norm) {
  const int32_t weight = to.constant(name + ".weight", flow_tensor(norm.weight));
  const int32_t bias = to.constant(name + ".bias", flow_tensor(norm.bias));
  return to.node("LayerNormalization", name, {x, weight, bias},
                 {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(norm.options.eps())}});
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

int32_t Attention::describe(flow::Composer& to, const std::string& name, int32_t x, int32_t mask) const {
  using Order = std::vector<int64_t>;
  const int64_t all = proj_->options.in_features();
  const int64_t width = all / heads_;
  // N x tokens x heads x width of a head, and then in the order that products want; zeros keep a dimension.
  const auto turned = [&](const std::string& part, int32_t value, const Order& order) {
    const int32_t heads = to.node("Reshape", part + ".heads", {value, to.list({0, 0, heads_, width})});
    return to.node("Transpose", part, {heads}, {{"perm", order}});
  };
  const std::vector<int32_t> parts =
      to.split(name + ".parts", describe_linear(to, name + ".qkv", x, *qkv_), -1, {all, all, all});
  const int32_t scale = to.number(static_cast<float>(1 / std::sqrt(static_cast<double>(width))));
  const int32_t query =
      to.node("Mul", name + ".scaled", {turned(name + ".query", parts[0], {0, 2, 1, 3}), scale});
  const int32_t key = turned(name + ".key", parts[1], {0, 2, 3, 1});
  int32_t scores = to.node("MatMul", name + ".scores", {query, key});
  if (mask != flow::kNone) scores = to.node("Add", name + ".masked", {scores, mask});
  const int32_t weights = to.node("Softmax", name + ".weights", {scores}, {{"axis", int64_t{-1}}});
  const int32_t value = turned(name + ".value", parts[2], {0, 2, 1, 3});
  const int32_t mixed = to.node("MatMul", name + ".mixed", {weights, value});
  const int32_t back = to.node("Transpose", name + ".back", {mixed}, {{"perm", Order{0, 2, 1, 3}}});
  return describe_linear(to, name + ".proj",
                         to.node("Reshape", name + ".joined", {back, to.list({0, 0, all})}), *proj_);
}

class TransformerBlock::Mlp final : public torch::nn::Module {
 public:
  explicit Mlp(int64_t width)
      : fc1_(register_module("fc1", Linear(width, 4 * width))),
        fc2_(register_module("fc2", Linear(4 * width, width))) {}
  at::Tensor forward(const at::Tensor& x) { return fc2_(at::gelu(fc1_(x))); }
  int32_t describe(flow::Composer& to, const std::string& name, int32_t x) const {
    const int32_t hidden = to.node("Gelu", name + ".gelu", {describe_linear(to, name + ".fc1", x, *fc1_)});
    return describe_linear(to, name + ".fc2", hidden, *fc2_);
  }

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

int32_t TransformerBlock::describe(flow::Composer& to, const std::string& name, int32_t x,
                                   int32_t mask) const {
  const int32_t seen =
      attn_->describe(to, name + ".attn", describe_norm(to, name + ".norm1", x, *norm1_), mask);
  x = to.node("Add", name + ".seen", {x, seen});
  const int32_t thought = mlp_->describe(to, name + ".mlp", describe_norm(to, name + ".norm2", x, *norm2_));
  return to.node("Add", name, {x, thought});
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
