// The small vision transformer (Dosovitskiy et al. 2021) with timm's names: patches, a class token, twelve
// blocks of attention and mlp with layer norms before them, and a linear head.
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/normalization.h>

#include <cmath>

#include "hewn/nn/parts.h"

namespace hewn::nn {
namespace {

constexpr int64_t kHeads = 6;
constexpr int64_t kDepth = 12;
constexpr double kNormEpsilon = 1e-6;
constexpr double kDeviation = 0.02;  // of weights, token and positions at the start

torch::nn::LayerNorm norm(int64_t width) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(kNormEpsilon));
}

class Attention final : public torch::nn::Module {
 public:
  explicit Attention(int64_t width)
      : qkv_(register_module("qkv", Linear(width, 3 * width))),
        proj_(register_module("proj", Linear(width, width))) {}

  /// N x tokens x width, to the same.
  at::Tensor forward(const at::Tensor& x) {
    const int64_t samples = x.size(0);
    const int64_t tokens = x.size(1);
    const int64_t width = x.size(2) / kHeads;
    // 3 x N x heads x tokens x width of a head.
    const at::Tensor parts = qkv_(x).reshape({samples, tokens, 3, kHeads, width}).permute({2, 0, 3, 1, 4});
    const at::Tensor query = parts[0] * (1 / std::sqrt(static_cast<double>(width)));
    const at::Tensor weights = at::softmax(query.matmul(parts[1].transpose(2, 3)), -1);
    return proj_(weights.matmul(parts[2]).transpose(1, 2).reshape({samples, tokens, kHeads * width}));
  }

 private:
  Linear qkv_;
  Linear proj_;
};

class Mlp final : public torch::nn::Module {
 public:
  explicit Mlp(int64_t width)
      : fc1_(register_module("fc1", Linear(width, 4 * width))),
        fc2_(register_module("fc2", Linear(4 * width, width))) {}
  at::Tensor forward(const at::Tensor& x) { return fc2_(at::gelu(fc1_(x))); }

 private:
  Linear fc1_;
  Linear fc2_;
};

class EncoderBlock final : public torch::nn::Module {
 public:
  explicit EncoderBlock(int64_t width)
      : norm1_(register_module("norm1", norm(width))),
        attn_(register_module("attn", std::make_shared<Attention>(width))),
        norm2_(register_module("norm2", norm(width))),
        mlp_(register_module("mlp", std::make_shared<Mlp>(width))) {}

  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor x = input + attn_->forward(norm1_(input));
    return x + mlp_->forward(norm2_(x));
  }

 private:
  torch::nn::LayerNorm norm1_;
  std::shared_ptr<Attention> attn_;
  torch::nn::LayerNorm norm2_;
  std::shared_ptr<Mlp> mlp_;
};

/// The convolution that turns patches into tokens, named as timm does.
class PatchEmbed final : public torch::nn::Module {
 public:
  PatchEmbed(int64_t channels, int64_t width, int64_t patch)
      : proj_(register_module("proj",
                              Conv2d(torch::nn::Conv2dOptions(channels, width, patch).stride(patch)))) {}
  at::Tensor forward(const at::Tensor& image) { return proj_(image).flatten(2).transpose(1, 2); }

 private:
  Conv2d proj_;
};

class Vit final : public Model {
 public:
  Vit(const Signature& signature, int64_t width, int64_t patch) {
    const int64_t tokens = (signature.input[1] / patch) * (signature.input[2] / patch);
    cls_token_ = register_parameter("cls_token", at::zeros({1, 1, width}));
    pos_embed_ = register_parameter("pos_embed", at::zeros({1, tokens + 1, width}));
    patch_embed_ =
        register_module("patch_embed", std::make_shared<PatchEmbed>(signature.input[0], width, patch));
    for (int64_t i = 0; i < kDepth; ++i) blocks_->push_back(EncoderBlock(width));
    register_module("blocks", blocks_);
    norm_ = register_module("norm", norm(width));
    head_ = register_module("head", Linear(width, signature.outputs));
    initialise();
  }

  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor patches = patch_embed_->forward(input);
    const at::Tensor token = cls_token_.expand({input.size(0), 1, patches.size(2)});
    at::Tensor x = at::cat({token.to(patches.scalar_type()), patches}, 1) + pos_embed_;
    x = norm_(blocks_->forward(x));
    return head_(x.select(1, 0));
  }

 private:
  void initialise() {
    torch::nn::init::normal_(cls_token_, 0, kDeviation);
    torch::nn::init::normal_(pos_embed_, 0, kDeviation);
    for (const auto& child : modules(/*include_self=*/false)) {
      if (auto* linear = child->as<torch::nn::LinearImpl>()) {
        torch::nn::init::normal_(linear->weight, 0, kDeviation);
        torch::nn::init::zeros_(linear->bias);
      }
    }
  }

  at::Tensor cls_token_;
  at::Tensor pos_embed_;
  std::shared_ptr<PatchEmbed> patch_embed_;
  torch::nn::Sequential blocks_;
  torch::nn::LayerNorm norm_{nullptr};
  Linear head_{nullptr};
};

}  // namespace

std::shared_ptr<Model> make_vit_s16(const Signature& signature, const ModelOptions& options) {
  require_image(signature, "vit-s/16");
  // Small images would be a handful of patches: an eighth of their side instead.
  const int64_t side = signature.input[1];
  const int64_t patch = side > 64 ? 16 : std::max<int64_t>(1, side / 8);
  if (side % patch != 0 || signature.input[2] % patch != 0) {
    throw Error(str("model vit-s/16: expected images whose sides are multiples of ", patch, ", got ", side,
                    " x ", signature.input[2]));
  }
  return std::make_shared<Vit>(signature, kHeads * options.width, patch);
}

}  // namespace hewn::nn
