#include "hewn/nn/parts.h"

#include <torch/nn/init.h>
#include <unistd.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::nn {
namespace {

std::string layer_name(size_t index) { return str("fc", index + 1); }

}  // namespace

void check_weights_fit(const char* option, double weights) {
  const auto memory = static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  const double bytes = weights * sizeof(float);
  if (bytes <= static_cast<double>(memory)) return;
  constexpr double kMost = 9e18;  // fits into a whole number
  throw Error(str(option, ": the weights would take ",
                  bytes_text(static_cast<int64_t>(std::min(bytes, kMost))), ", this machine has ",
                  bytes_text(memory)));
}

void FullyConnected::add_layers(int64_t inputs, const std::vector<int64_t>& widths, int64_t outputs) {
  double weights = 0;
  auto before = static_cast<double>(inputs);
  for (const int64_t width : widths) {
    weights += before * static_cast<double>(width);
    before = static_cast<double>(width);
  }
  check_weights_fit("widths", weights + before * static_cast<double>(outputs));
  const auto add = [&](int64_t width) {
    layers_.push_back(register_module(layer_name(layers_.size()), Linear(inputs, width)));
    inputs = width;
  };
  for (const int64_t width : widths) {
    if (width < 1) throw Error(str("widths: expected sizes of at least 1, got ", width));
    add(width);
  }
  add(outputs);
}

at::Tensor FullyConnected::run_layers(at::Tensor x) {
  for (size_t i = 0; i + 1 < layers_.size(); ++i) x = layers_[i]->forward(x).relu_();
  return layers_.back()->forward(x);
}

void FullyConnected::describe_layers(runtime::Graph& graph, int32_t x) const {
  for (size_t i = 0; i < layers_.size(); ++i) {
    x = graph.linear(layer_name(i), x, layers_[i]->options.out_features());
    if (i + 1 < layers_.size()) x = graph.relu(x);
  }
}

std::vector<std::string> FullyConnected::chain() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < layers_.size(); ++i) names.push_back(layer_name(i));
  return names;
}

Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return Conv2d(torch::nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

void initialise_resnet(torch::nn::Module& module) {
  for (const auto& child : module.modules(/*include_self=*/false)) {
    if (auto* layer = child->as<torch::nn::Conv2dImpl>()) {
      torch::nn::init::kaiming_normal_(layer->weight, 0.0, torch::kFanOut, torch::kReLU);
    }
  }
}

void require_image(const Signature& signature, const char* model) {
  if (signature.input.size() == 3) return;
  throw Error(str("model ", model, ": expected images as input, got data of ", signature.input.size(),
                  " dimensions"));
}

}  // namespace hewn::nn
