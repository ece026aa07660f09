#include "hewn/runtime/model.h"

#include <omp.h>

#include <algorithm>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/core/share.h"
#include "hewn/runtime/flow_graph.h"

namespace hewn::runtime {
namespace {

constexpr int kMaxThreads = 1024;  // OpenMP ends the program where it cannot start them
// Floats of an activation of all samples that run at a time: far below what a tensor may have.
constexpr int64_t kMostFloats = int64_t{1} << 26;
// A thread's share of what is looked up should take longer than waiting for the others.
constexpr int64_t kLookUpShare = int64_t{1} << 16;

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
  int64_t largest = 1;
  for (const Shape& shape : shapes) largest = std::max(largest, shape.elements());
  About about{shapes.front(),
              shapes.back().elements(),
              std::max<int64_t>(1, kMostFloats / largest),
              {},
              vocabularies_of(data.graph),
              std::move(data.classes),
              std::move(data.preprocessing),
              std::move(data.arrays),
              std::move(data.metadata)};
  for (const Node& node : data.graph.nodes) {
    if (has_table(node)) about.look_ups.emplace_back(std::move(data.tables.at(node.name)), node);
  }
  return about;
}

Model::Model(ModelData data, const Limits& limits)
    : about_(std::make_shared<const About>(about(data, limits))),
      network_(flow_graph(data, dims_of(data.graph, about_->input), Values::kLookedUp, limits)),
      room_(about_->look_ups.size()) {
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

void Model::set_threads(int threads) {
  if (threads < 0 || threads > kMaxThreads) {
    throw Error(str("threads: expected 0 to ", kMaxThreads, ", got ", threads));
  }
  network_.set_threads(threads);
}

void Model::run(const float* input, int64_t batch, float* output) {
  if (batch < 1) return;
  const int64_t slices = (batch + about_->most_samples - 1) / about_->most_samples;
  const int64_t size = (batch + slices - 1) / slices;
  for (int64_t first = 0; first < batch; first += size)
    run_slice(input + first * inputs(), std::min(size, batch - first), output + first * outputs());
}

void Model::run_slice(const float* input, int64_t batch, float* output) {
  if (about_->look_ups.empty()) {
    point(room_.inputs[0], network_.graph().inputs[0].spec.dims, batch, input);
  } else {
    look_up(input, batch);
  }
  point(room_.outputs[0], network_.graph().outputs[0].spec.dims, batch, output);
  network_.run(room_.inputs, room_.outputs);
  for (size_t n = 0; n < room_.known.size(); ++n) {
    if (room_.known[n] == 0)
      std::fill_n(output + static_cast<int64_t>(n) * outputs(), outputs(),
                  std::numeric_limits<float>::quiet_NaN());
  }
}

/// Threads share the samples.
void Model::look_up(const float* input, int64_t batch) {
  room_.known.assign(static_cast<size_t>(batch), 1);
  int64_t floats = 0;
  for (size_t i = 0; i < about_->look_ups.size(); ++i) {
    std::vector<float>& found = room_.looked_up[i];
    found.resize(static_cast<size_t>(batch * about_->look_ups[i].width()));
    floats += static_cast<int64_t>(found.size());
    point(room_.inputs[i], network_.graph().inputs[i].spec.dims, batch, found.data());
  }
  const int team = static_cast<int>(std::clamp<int64_t>(floats / kLookUpShare, 1, threads()));
#pragma omp parallel num_threads(team) if (team > 1)
  {
    const Range range = share(batch, omp_get_thread_num(), omp_get_num_threads());
    for (size_t i = 0; i < about_->look_ups.size(); ++i) {
      const LookUp& look_up = about_->look_ups[i];
      look_up.run(input + range.begin * inputs(), range.end - range.begin,
                  room_.looked_up[i].data() + range.begin * look_up.width(),
                  room_.known.data() + range.begin);
    }
  }
}

}  // namespace hewn::runtime
