#include "hewn/nn/parts.h"

namespace hewn::nn {
namespace {

class Mlp final : public FullyConnected {
 public:
  Mlp(int64_t inputs, const std::vector<int64_t>& widths, int64_t outputs) {
    add_layers(inputs, widths, outputs);
  }

  at::Tensor forward(const at::Tensor& input) override { return run_layers(input.flatten(1)); }

  runtime::Graph graph(const runtime::Shape& input) const override {
    runtime::Graph graph;
    describe_layers(graph, graph.flatten(graph.input(input)));
    return graph;
  }
};

}  // namespace

std::shared_ptr<Model> make_mlp(const Signature& signature, const ModelOptions& options) {
  int64_t inputs = 1;
  for (const int64_t extent : signature.input) inputs *= extent;
  return std::make_shared<Mlp>(inputs, options.widths, signature.outputs);
}

}  // namespace hewn::nn
