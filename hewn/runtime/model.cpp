#include "hewn/runtime/model.h"

#include <algorithm>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/runtime/flow_graph.h"

namespace hewn::runtime {
namespace {

constexpr int kMaxThreads = 1024;  // OpenMP ends the program where it cannot start them

/// One sample's shape: of a vector, where only layers read it that want one.
std::vector<int64_t> dims_of(const Graph& graph, const Shape& input) {
  bool vector = input.height == 1 && input.width == 1;
  for (const Node& node : graph.nodes) {
    const bool reads = std::count(node.inputs.begin(), node.inputs.end(), 0) > 0;
    vector = vector && (!reads || node.op == Op::kLinear || node.op == Op::kFlatten);
  }
  if (vector) return {input.channels};
  return {input.channels, input.height, input.width};
}

/// Lets a tensor lie in the user's memory. Inputs are only read.
void point(flow::Tensor& tensor, const flow::Dims& sample, int64_t batch, const float* memory) {
  std::array<int64_t, 4> dims{};
  std::copy(sample.begin(), sample.end(), dims.begin());
  dims[0] = batch;
  tensor.point_at(flow::Type::kFloat, {dims.data(), sample.size()}, const_cast<float*>(memory));
}

/// Throws Error where the activations of a sample need more than the limit.
void check_activations(flow::Network& network, const Limits& limits) {
  std::vector<flow::Tensor> sample;
  for (const flow::Port& port : network.graph().inputs) {
    flow::Spec spec = port.spec;
    spec.dims[0] = 1;
    sample.emplace_back(spec);
  }
  const auto floats = static_cast<int64_t>(network.prepared_bytes(sample) / sizeof(float));
  if (floats <= limits.activation_floats) return;
  throw Error(
      str("the activations of one sample need ", floats, " floats, more than ", limits.activation_floats));
}

}  // namespace

Model::About Model::about(ModelData& data, const Limits& limits) {
  const std::vector<Shape> shapes = infer_shapes(data.graph, limits);
  About about{shapes.front(),          shapes.back().elements(),      {},
              std::move(data.classes), std::move(data.preprocessing), std::move(data.arrays),
              std::move(data.metadata)};
  for (const Node& node : data.graph.nodes) {
    if (has_table(node)) about.look_ups.emplace_back(std::move(data.tables.at(node.name)), node);
  }
  return about;
}

Model::Model(ModelData data, const Limits& limits)
    : about_(std::make_shared<const About>(about(data, limits))),
      network_(flow_graph(data, dims_of(data.graph, about_->input), Values::kLookedUp, limits)),
      inputs_(network_.graph().inputs.size()),
      outputs_(1),
      looked_up_(about_->look_ups.size()) {
  check_activations(network_, limits);
  set_threads(0);
}

Model Model::load(const std::filesystem::path& path, const Limits& limits) {
  ModelData data = read_model(path, limits);
  try {
    return Model(std::move(data), limits);
  } catch (const Error& error) {
    throw FormatError(path.string(), error.what());
  }
}

std::array<int64_t, 3> Model::input_shape() const {
  return {about_->input.channels, about_->input.height, about_->input.width};
}

std::vector<int64_t> Model::vocabularies() const {
  std::vector<int64_t> out;
  for (const LookUp& look_up : about_->look_ups) {
    out.resize(look_up.vocabularies().size(), kMaxVocabulary);
    for (size_t f = 0; f < out.size(); ++f) out[f] = std::min(out[f], look_up.vocabularies()[f]);
  }
  return out;
}

void Model::set_threads(int threads) {
  if (threads < 0 || threads > kMaxThreads) {
    throw Error(str("threads: expected 0 to ", kMaxThreads, ", got ", threads));
  }
  network_.set_threads(threads);
}

void Model::run(const float* input, int64_t batch, float* output) {
  if (batch < 1) return;
  const std::vector<flow::Port>& ports = network_.graph().inputs;
  if (about_->look_ups.empty()) point(inputs_[0], ports[0].spec.dims, batch, input);
  known_.assign(about_->look_ups.empty() ? 0 : static_cast<size_t>(batch), true);
  for (size_t i = 0; i < about_->look_ups.size(); ++i) {
    const LookUp& look_up = about_->look_ups[i];
    looked_up_[i].resize(static_cast<size_t>(batch * look_up.width()));
    look_up.run(input, batch, looked_up_[i].data(), known_);
    point(inputs_[i], ports[i].spec.dims, batch, looked_up_[i].data());
  }
  point(outputs_[0], network_.graph().outputs[0].spec.dims, batch, output);
  network_.run(inputs_, outputs_);
  for (size_t n = 0; n < known_.size(); ++n) {
    if (!known_[n])
      std::fill_n(output + static_cast<int64_t>(n) * outputs(), outputs(),
                  std::numeric_limits<float>::quiet_NaN());
  }
}

}  // namespace hewn::runtime
