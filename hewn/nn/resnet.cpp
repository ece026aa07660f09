// ResNet-18 and ResNet-50 with torchvision's names and shapes. Small images get the usual small stem, a 3x3
// convolution and no pooling, unless the options say otherwise.
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/max_pool2d.h>

#include <array>

#include "hewn/nn/batch_norm.h"
#include "hewn/nn/describe.h"
#include "hewn/nn/parts.h"

namespace hewn::nn {
namespace {

constexpr int64_t kSmallImage = 64;  // pixels of a side up to which images get the small stem

class Block : public torch::nn::Module {
 public:
  virtual at::Tensor forward(const at::Tensor& input) = 0;
  /// Adds the block called `name` to the graph, behind node `x`.
  virtual int32_t describe(runtime::Graph& graph, const std::string& name, int32_t x) const = 0;

 protected:
  void add_shortcut(int64_t in, int64_t out, int64_t stride) {
    if (in == out && stride == 1) return;
    downsample_ =
        register_module("downsample", torch::nn::Sequential(conv(in, out, 1, stride), BatchNorm2d(out)));
  }
  at::Tensor shortcut(const at::Tensor& input) {
    return downsample_.is_empty() ? input : downsample_->forward(input);
  }
  int32_t describe_shortcut(runtime::Graph& graph, const std::string& name, int32_t x) const {
    if (downsample_.is_empty()) return x;
    return conv_norm(graph, {name + "downsample.0", name + "downsample.1"}, x,
                     *downsample_->ptr(0)->as<Conv2d>(), *downsample_->ptr(1)->as<BatchNorm2d>());
  }

 private:
  torch::nn::Sequential downsample_{nullptr};
};

class BasicBlock final : public Block {
 public:
  static constexpr int64_t kExpansion = 1;

  BasicBlock(int64_t in, int64_t width, int64_t stride)
      : conv1_(register_module("conv1", conv(in, width, 3, stride))),
        bn1_(register_module("bn1", BatchNorm2d(width))),
        conv2_(register_module("conv2", conv(width, width, 3, 1))),
        bn2_(register_module("bn2", BatchNorm2d(width))) {
    add_shortcut(in, width, stride);
  }

  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor x = bn1_(conv1_(input)).relu_();
    return bn2_(conv2_(x)).add_(shortcut(input)).relu_();
  }

  int32_t describe(runtime::Graph& graph, const std::string& name, int32_t input) const override {
    const int32_t side = describe_shortcut(graph, name, input);
    int32_t x = conv_norm(graph, {name + "conv1", name + "bn1"}, input, *conv1_, *bn1_);
    x = conv_norm(graph, {name + "conv2", name + "bn2"}, graph.relu(x), *conv2_, *bn2_);
    return graph.relu(graph.add(x, side));
  }

 private:
  Conv2d conv1_;
  BatchNorm2d bn1_;
  Conv2d conv2_;
  BatchNorm2d bn2_;
};

class Bottleneck final : public Block {
 public:
  static constexpr int64_t kExpansion = 4;

  Bottleneck(int64_t in, int64_t width, int64_t stride)
      : conv1_(register_module("conv1", conv(in, width, 1, 1))),
        bn1_(register_module("bn1", BatchNorm2d(width))),
        conv2_(register_module("conv2", conv(width, width, 3, stride))),
        bn2_(register_module("bn2", BatchNorm2d(width))),
        conv3_(register_module("conv3", conv(width, width * kExpansion, 1, 1))),
        bn3_(register_module("bn3", BatchNorm2d(width * kExpansion))) {
    add_shortcut(in, width * kExpansion, stride);
  }

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor x = bn1_(conv1_(input)).relu_();
    x = bn2_(conv2_(x)).relu_();
    return bn3_(conv3_(x)).add_(shortcut(input)).relu_();
  }

  int32_t describe(runtime::Graph& graph, const std::string& name, int32_t input) const override {
    const int32_t side = describe_shortcut(graph, name, input);
    int32_t x = conv_norm(graph, {name + "conv1", name + "bn1"}, input, *conv1_, *bn1_);
    x = conv_norm(graph, {name + "conv2", name + "bn2"}, graph.relu(x), *conv2_, *bn2_);
    x = conv_norm(graph, {name + "conv3", name + "bn3"}, graph.relu(x), *conv3_, *bn3_);
    return graph.relu(graph.add(x, side));
  }

 private:
  Conv2d conv1_;
  BatchNorm2d bn1_;
  Conv2d conv2_;
  BatchNorm2d bn2_;
  Conv2d conv3_;
  BatchNorm2d bn3_;
};

template <class BlockType>
class Resnet final : public Model {
 public:
  Resnet(const Signature& signature, const ModelOptions& options, const std::array<int64_t, 4>& depths)
      : small_(options.small_stem.value_or(signature.input[1] <= kSmallImage)),
        conv1_(register_module("conv1", stem(signature.input[0], options.width, small_))),
        bn1_(register_module("bn1", BatchNorm2d(options.width))) {
    const int64_t width = options.width;
    int64_t channels = width;
    for (size_t stage = 0; stage < depths.size(); ++stage) {
      torch::nn::Sequential blocks;
      for (int64_t i = 0; i < depths[stage]; ++i) {
        const int64_t stage_width = width << stage;
        blocks->push_back(BlockType(channels, stage_width, stage > 0 && i == 0 ? 2 : 1));
        channels = stage_width * BlockType::kExpansion;
      }
      stages_.push_back(register_module(str("layer", stage + 1), blocks));
    }
    fc_ = register_module("fc", Linear(channels, signature.outputs));
    initialise_resnet(*this);
  }

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor x = bn1_(conv1_(input)).relu_();
    if (!small_) x = at::max_pool2d(x, 3, 2, 1);
    for (torch::nn::Sequential& stage : stages_) x = stage->forward(x);
    return fc_(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

  runtime::Graph graph(const runtime::Shape& input) const override {
    runtime::Graph graph;
    int32_t x = graph.relu(conv_norm(graph, {"conv1", "bn1"}, graph.input(input), *conv1_, *bn1_));
    if (!small_) x = graph.max_pool(x, {3, 3, 2, 1, 1});
    for (size_t stage = 0; stage < stages_.size(); ++stage) {
      for (size_t i = 0; i < stages_[stage]->size(); ++i) {
        const auto* block = stages_[stage]->ptr(i)->template as<BlockType>();
        x = block->describe(graph, str("layer", stage + 1, ".", i, "."), x);
      }
    }
    graph.linear("fc", graph.global_avg_pool(x), fc_->options.out_features());
    return graph;
  }

 private:
  static Conv2d stem(int64_t channels, int64_t width, bool small) {
    return small ? conv(channels, width, 3, 1) : conv(channels, width, 7, 2);
  }

  bool small_;
  Conv2d conv1_;
  BatchNorm2d bn1_;
  std::vector<torch::nn::Sequential> stages_;
  Linear fc_{nullptr};
};

}  // namespace

std::shared_ptr<Model> make_resnet18(const Signature& signature, const ModelOptions& options) {
  require_image(signature, "resnet18");
  return std::make_shared<Resnet<BasicBlock>>(signature, options, std::array<int64_t, 4>{2, 2, 2, 2});
}

std::shared_ptr<Model> make_resnet50(const Signature& signature, const ModelOptions& options) {
  require_image(signature, "resnet50");
  return std::make_shared<Resnet<Bottleneck>>(signature, options, std::array<int64_t, 4>{3, 4, 6, 3});
}

}  // namespace hewn::nn
