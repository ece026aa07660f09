#include "hewn/measure/runtime_layer.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "hewn/flow/composer.h"

namespace hewn::measure {
namespace {

using List = std::vector<int64_t>;

flow::Dims dims_of(const at::Tensor& tensor) { return tensor.sizes().vec(); }

flow::Graph graph_of(const at::Tensor& x, const KeptWeight& kept, const kernels::ConvGeometry* geometry) {
  flow::Composer to;
  flow::Dims in = dims_of(x);
  in[0] = -1;
  flow::Dims out(in.size(), -1);
  out[1] = kept.pattern.grid.cols;
  const int64_t taps = geometry == nullptr ? 1 : geometry->taps();
  const flow::Tensor weight({flow::Type::kFloat, dims_of(kept.masked)}, {kept.pattern, kept.values, taps});
  const std::vector<int32_t> operands = {to.input("x", {flow::Type::kFloat, in}),
                                         to.constant("weight", weight)};
  const int32_t y = geometry == nullptr
                        ? to.node("Gemm", "layer", operands, {{"transB", int64_t{1}}})
                        : to.node("Conv", "layer", operands,
                                  {{"kernel_shape", List{geometry->kernel_height, geometry->kernel_width}},
                                   {"strides", List(2, geometry->stride)},
                                   {"pads", List(4, geometry->padding)},
                                   {"dilations", List(2, geometry->dilation)}});
  return to.finish(y, "y", {flow::Type::kFloat, out});
}

}  // namespace

struct RuntimeLayer::State {
  at::Tensor x;  // whom the inputs point at
  flow::Network network;
  std::vector<flow::Tensor> inputs;
  std::vector<flow::Tensor> outputs;

  State(const at::Tensor& samples, flow::Graph graph)
      : x(samples.contiguous()), network(std::move(graph)), inputs(1) {
    inputs[0].point_at(flow::Type::kFloat, {x.sizes().data(), x.sizes().size()}, x.data_ptr<float>());
  }
  void run() {
    network.set_threads(at::get_num_threads());
    network.run(inputs, outputs);
  }
};

RuntimeLayer::RuntimeLayer(const at::Tensor& x, const KeptWeight& kept, const kernels::ConvGeometry* geometry)
    : state_(std::make_shared<State>(x, graph_of(x, kept, geometry))) {}

at::Tensor RuntimeLayer::run() const {
  state_->run();
  const flow::Tensor& y = state_->outputs[0];
  at::Tensor out = at::empty(y.dims());
  std::copy(y.values<float>().begin(), y.values<float>().end(), out.data_ptr<float>());
  return out;
}

Contender RuntimeLayer::on_planes() const {
  return {"runtime, planes", [state = state_] {
            state->network.set_threads(at::get_num_threads());
            state->network.run_on_planes(state->inputs);
          }};
}

Contender RuntimeLayer::row_major() const {
  return {"runtime, row-major", [state = state_] { state->run(); }};
}

}  // namespace hewn::measure
