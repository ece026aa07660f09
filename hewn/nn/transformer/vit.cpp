// The small vision transformer (Dosovitskiy et al. 2021) with timm's names: patches, a class token, twelve
// blocks of attention and mlp with layer norms before them, and a linear head.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include "hewn/nn/describe.h"
#include "hewn/nn/parts.h"
#include "hewn/nn/transformer/block.h"

namespace hewn::nn {
namespace {

constexpr int64_t kVitHeads = 6;
constexpr int64_t kVitDepth = 12;
constexpr int64_t kVitPatch = 16;
constexpr int64_t kSmallPatch = 4;  // of images of at most kMostSmall pixels: 16 would leave a handful
constexpr int64_t kMostSmall = 64;

/// The convolution that turns patches into tokens, named as timm does.
class PatchEmbed final : public torch::nn::Module {
 public:
  PatchEmbed(int64_t channels, int64_t width, int64_t patch)
      : proj_(register_module("proj",
                              Conv2d(torch::nn::Conv2dOptions(channels, width, patch).stride(patch)))) {}
  at::Tensor forward(const at::Tensor& image) { return proj_(image).flatten(2).transpose(1, 2); }

  int32_t describe(flow::Composer& to, const std::string& name, int32_t image) const {
    const int32_t weight = to.constant(name + ".proj.weight", flow_tensor(proj_->weight));
    const int32_t bias = to.constant(name + ".proj.bias", flow_tensor(proj_->bias));
    const std::vector<int64_t> patch(proj_->options.kernel_size()->begin(),
                                     proj_->options.kernel_size()->end());
    const int32_t patches =
        to.node("Conv", name + ".proj", {image, weight, bias}, {{"kernel_shape", patch}, {"strides", patch}});
    const int32_t flat = to.node("Reshape", name + ".flat", {patches, to.list({0, 0, -1})});
    return to.node("Transpose", name, {flat}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  }

 private:
  Conv2d proj_;
};

class Vit final : public Model {
 public:
  Vit(const Signature& signature, int64_t width, int64_t patch, int64_t depth) : image_(signature.input) {
    const int64_t tokens = (signature.input[1] / patch) * (signature.input[2] / patch);
    cls_token_ = register_parameter("cls_token", at::zeros({1, 1, width}));
    pos_embed_ = register_parameter("pos_embed", at::zeros({1, tokens + 1, width}));
    patch_embed_ =
        register_module("patch_embed", std::make_shared<PatchEmbed>(signature.input[0], width, patch));
    for (int64_t i = 0; i < depth; ++i) blocks_->push_back(TransformerBlock(width, kVitHeads, Sight::kAll));
    register_module("blocks", blocks_);
    norm_ = register_module("norm", transformer_norm(width));
    head_ = register_module("head", Linear(width, signature.outputs));
    initialise_narrow(cls_token_);
    initialise_narrow(pos_embed_);
    initialise_transformer(*this);
  }

  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor patches = patch_embed_->forward(input);
    const at::Tensor token = cls_token_.expand({input.size(0), 1, patches.size(2)});
    at::Tensor x = at::cat({token.to(patches.scalar_type()), patches}, 1) + pos_embed_;
    x = norm_(blocks_->forward(x));
    return head_(x.select(1, 0));
  }

  std::optional<flow::Graph> flow_graph() const override {
    using flow::Type;
    flow::Composer to;
    const int32_t image = to.input("input", {Type::kFloat, {-1, image_[0], image_[1], image_[2]}});
    // The class token is the same for every sample: a place for it, and its numbers come with the positions.
    int32_t x = to.node("Pad", "token",
                        {patch_embed_->describe(to, "patch_embed", image), to.list({0, 1, 0, 0, 0, 0})});
    at::Tensor positions = pos_embed_.detach().to(at::kFloat).clone();
    positions.select(1, 0).add_(cls_token_.detach().select(1, 0));
    x = to.node("Add", "tokens", {x, to.constant("pos_embed", flow_tensor(positions))});
    for (size_t i = 0; i < blocks_->size(); ++i) {
      x = blocks_->ptr(i)->as<TransformerBlock>()->describe(to, str("blocks.", i), x, flow::kNone);
    }
    // Only the class token goes on; its norm does not know of the others.
    x = to.node("Gather", "class", {x, to.index(0)}, {{"axis", int64_t{1}}});
    x = describe_linear(to, "head", describe_norm(to, "norm", x, *norm_), *head_);
    return to.finish(x, "output", {Type::kFloat, {-1, head_->options.out_features()}});
  }

 private:
  std::vector<int64_t> image_;  // channels, height, width
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
  const int64_t side = signature.input[1];
  const int64_t patch = options.patch.value_or(side > kMostSmall ? kVitPatch : kSmallPatch);
  if (side % patch != 0 || signature.input[2] % patch != 0) {
    throw Error(str("patch: model vit-s/16 expects images whose sides are multiples of ", patch, ", got ",
                    side, " x ", signature.input[2]));
  }
  return std::make_shared<Vit>(signature, kVitHeads * options.width, patch,
                               options.depth.value_or(kVitDepth));
}

}  // namespace hewn::nn
