#pragma once

#include <torch/nn/modules/normalization.h>

#include <cstdint>
#include <memory>
#include <string>

#include "hewn/flow/composer.h"
#include "hewn/nn/layers.h"

namespace hewn::nn {

/// What a token sees of the others.
enum class Sight : uint8_t { kAll, kEarlier };

/// A layer norm over the last dimension, with the epsilon that is usual in transformers.
torch::nn::LayerNorm transformer_norm(int64_t width);

// What is called `name` as nodes of a graph, behind the value `x`; `mask` is added to the scores of
// attention, where it is not flow::kNone. Each returns what it makes.

int32_t describe_norm(flow::Composer& to, const std::string& name, int32_t x,
                      const torch::nn::LayerNormImpl& norm);

/// N x tokens x width, to the same.
class Attention final : public torch::nn::Module {
 public:
  Attention(int64_t width, int64_t heads, Sight sight);
  at::Tensor forward(const at::Tensor& x);
  int32_t describe(flow::Composer& to, const std::string& name, int32_t x, int32_t mask) const;

 private:
  int64_t heads_;
  Sight sight_;
  Linear qkv_;
  Linear proj_;
};

/// Attention, then an mlp four times as wide, each with a layer norm before it and a path around both. The
/// names are timm's.
class TransformerBlock final : public torch::nn::Module {
 public:
  TransformerBlock(int64_t width, int64_t heads, Sight sight);
  at::Tensor forward(const at::Tensor& input);
  int32_t describe(flow::Composer& to, const std::string& name, int32_t x, int32_t mask) const;

 private:
  class Mlp;
  torch::nn::LayerNorm norm1_;
  std::shared_ptr<Attention> attn_;
  torch::nn::LayerNorm norm2_;
  std::shared_ptr<Mlp> mlp_;
};

/// How weights, tokens and positions of a transformer start: from a narrow normal distribution.
void initialise_narrow(at::Tensor& tensor);

/// The same for the weights of all Linear layers in it; their biases start at zero.
void initialise_transformer(torch::nn::Module& module);

}  // namespace hewn::nn
