// The ResNets of He et al. 2016 for 32x32 images: three stages of 16, 32 and 64 channels, and shortcuts that
// skip every second pixel and pad with zero channels (option A), so that they have no parameters.
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/constant_pad_nd.h>

#include "hewn/nn/batch_norm.h"
#include "hewn/nn/describe.h"
#include "hewn/nn/parts.h"

namespace hewn::nn {
namespace {

class CifarBlock final : public torch::nn::Module {
 public:
  CifarBlock(int64_t in, int64_t out, int64_t stride)
      : padding_((out - in) / 2),
        stride_(stride),
        conv1_(register_module("conv1", conv(in, out, 3, stride))),
        bn1_(register_module("bn1", BatchNorm2d(out))),
        conv2_(register_module("conv2", conv(out, out, 3, 1))),
        bn2_(register_module("bn2", BatchNorm2d(out))) {}

  at::Tensor forward(const at::Tensor& input) {
    const at::Tensor x = bn1_(conv1_(input)).relu_();
    return bn2_(conv2_(x)).add_(shortcut(input)).relu_();
  }

  /// Adds the block called `name` to the graph, behind node `input`.
  int32_t describe(runtime::Graph& graph, const std::string& name, int32_t input) const {
    const bool same = padding_ == 0 && stride_ == 1;
    const int32_t side = same ? input : graph.subsample(input, stride_, {padding_, padding_});
    int32_t x = conv_norm(graph, {name + "conv1", name + "bn1"}, input, *conv1_, *bn1_);
    x = conv_norm(graph, {name + "conv2", name + "bn2"}, graph.relu(x), *conv2_, *bn2_);
    return graph.relu(graph.add(x, side));
  }

 private:
  at::Tensor shortcut(const at::Tensor& input) const {
    if (padding_ == 0 && stride_ == 1) return input;
    const at::Tensor every_second =
        input.slice(2, 0, input.size(2), stride_).slice(3, 0, input.size(3), stride_);
    return at::constant_pad_nd(every_second, {0, 0, 0, 0, padding_, padding_});
  }

  int64_t padding_;
  int64_t stride_;
  Conv2d conv1_;
  BatchNorm2d bn1_;
  Conv2d conv2_;
  BatchNorm2d bn2_;
};

class CifarResnet final : public Model {
 public:
  CifarResnet(const Signature& signature, int64_t blocks_per_stage)
      : conv1_(register_module("conv1", conv(signature.input[0], 16, 3, 1))),
        bn1_(register_module("bn1", BatchNorm2d(16))) {
    int64_t channels = 16;
    for (int64_t stage = 0; stage < 3; ++stage) {
      torch::nn::Sequential blocks;
      for (int64_t i = 0; i < blocks_per_stage; ++i) {
        const int64_t width = int64_t{16} << stage;
        blocks->push_back(CifarBlock(channels, width, stage > 0 && i == 0 ? 2 : 1));
        channels = width;
      }
      stages_.push_back(register_module(str("layer", stage + 1), blocks));
    }
    linear_ = register_module("linear", Linear(channels, signature.outputs));
    initialise_resnet(*this);
  }

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor x = bn1_(conv1_(input)).relu_();
    for (torch::nn::Sequential& stage : stages_) x = stage->forward(x);
    return linear_(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

  runtime::Graph graph(const runtime::Shape& input) const override {
    runtime::Graph graph;
    int32_t x = graph.relu(conv_norm(graph, {"conv1", "bn1"}, graph.input(input), *conv1_, *bn1_));
    for (size_t stage = 0; stage < stages_.size(); ++stage) {
      for (size_t i = 0; i < stages_[stage]->size(); ++i) {
        x = stages_[stage]->ptr(i)->as<CifarBlock>()->describe(graph, str("layer", stage + 1, ".", i, "."),
                                                               x);
      }
    }
    graph.linear("linear", graph.global_avg_pool(x), linear_->options.out_features());
    return graph;
  }

 private:
  Conv2d conv1_;
  BatchNorm2d bn1_;
  std::vector<torch::nn::Sequential> stages_;
  Linear linear_{nullptr};
};

/// Three stages of two layers a block, one layer before and one behind: depth = 6 blocks + 2.
std::shared_ptr<Model> make_resnet(int64_t depth, const Signature& signature) {
  require_image(signature, "resnet");
  return std::make_shared<CifarResnet>(signature, (depth - 2) / 6);
}

}  // namespace

std::shared_ptr<Model> make_resnet20(const Signature& s, const ModelOptions&) { return make_resnet(20, s); }
std::shared_ptr<Model> make_resnet32(const Signature& s, const ModelOptions&) { return make_resnet(32, s); }
std::shared_ptr<Model> make_resnet44(const Signature& s, const ModelOptions&) { return make_resnet(44, s); }
std::shared_ptr<Model> make_resnet56(const Signature& s, const ModelOptions&) { return make_resnet(56, s); }

}  // namespace hewn::nn
