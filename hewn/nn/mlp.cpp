#include "hewn/core/error.h"
#include "hewn/nn/parts.h"

namespace hewn::nn {
namespace {

class Mlp final : public Model {
 public:
  Mlp(int64_t inputs, const std::vector<int64_t>& widths, int64_t outputs) {
    int64_t last = inputs;
    for (const int64_t width : widths) {
      if (width < 1) throw Error(str("widths: expected sizes of at least 1, got ", width));
      add(last, width);
      last = width;
    }
    add(last, outputs);
  }

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor x = input.flatten(1);
    for (size_t i = 0; i + 1 < layers_.size(); ++i) x = layers_[i]->forward(x).relu_();
    return layers_.back()->forward(x);
  }

  runtime::Graph graph(const runtime::Shape& input) const override {
    runtime::Graph graph;
    int32_t x = graph.flatten(graph.input(input));
    for (size_t i = 0; i < layers_.size(); ++i) {
      x = graph.linear(str("fc", i + 1), x, layers_[i]->options.out_features());
      if (i + 1 < layers_.size()) x = graph.relu(x);
    }
    return graph;
  }

  std::vector<std::string> chain() const override {
    std::vector<std::string> names;
    for (size_t i = 0; i < layers_.size(); ++i) names.push_back(str("fc", i + 1));
    return names;
  }

 private:
  void add(int64_t inputs, int64_t outputs) {
    layers_.push_back(register_module(str("fc", layers_.size() + 1), Linear(inputs, outputs)));
  }

  std::vector<Linear> layers_;
};

}  // namespace

std::shared_ptr<Model> make_mlp(const Signature& signature, const ModelOptions& options) {
  int64_t inputs = 1;
  for (const int64_t extent : signature.input) inputs *= extent;
  return std::make_shared<Mlp>(inputs, options.widths, signature.outputs);
}

}  // namespace hewn::nn
