#include "hewn/refit/layers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace hewn::refit {
namespace {

using flow::kNone;

class Finder {
 public:
  explicit Finder(const flow::Graph& graph) : graph_(graph), uses_(flow::count_uses(graph)) {}

  std::vector<Layer> run() {
    std::vector<Layer> out;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const flow::Node& node = graph_.nodes[i];
      if (node.inputs.size() < 2 || node.inputs[0] == kNone || node.inputs[1] == kNone) continue;
      const flow::Tensor* weight = graph_.constant(node.inputs[1]);
      if (weight == nullptr || weight->type() != flow::Type::kFloat || weight->elements() == 0) continue;
      if (graph_.constant(node.inputs[0]) != nullptr) continue;
      Layer layer;
      if (!describe(node, weight->dims(), layer)) continue;
      layer.node = i;
      layer.weight = node.inputs[1];
      layer.name = unique_name(node);
      if (layer.why_dense.empty() && uses_[to_size(layer.weight)] > 1) {
        layer.why_dense = "its weight is used more than once";
      }
      take_bias(node, layer);
      look_behind(node, layer);
      out.push_back(std::move(layer));
    }
    return out;
  }

 private:
  static size_t to_size(int32_t value) { return static_cast<size_t>(value); }

  static bool describe(const flow::Node& node, const flow::Dims& dims, Layer& layer) {
    if (node.op == "Conv" && dims.size() >= 3) {
      layer.kind = flow::WeightKind::kConv;
      layer.kernel.assign(dims.begin() + 2, dims.end());
      layer.outputs = dims[0];
      layer.channels = dims[1];
      layer.taps = flow::count(dims) / (dims[0] * dims[1]);
      if (node.integer("group", 1) != 1) layer.why_dense = "has groups";
      return true;
    }
    if (dims.size() != 2 || (node.op != "Gemm" && node.op != "MatMul")) return false;
    const bool turned = node.op == "Gemm" && node.integer("transB", 0) != 0;
    layer.kind = turned ? flow::WeightKind::kOutIn : flow::WeightKind::kInOut;
    layer.outputs = dims[turned ? 0 : 1];
    layer.channels = dims[turned ? 1 : 0];
    if (node.op == "Gemm") {
      layer.scale = node.number("alpha", 1);
      if (node.integer("transA", 0) != 0) layer.why_dense = "its input is transposed";
      if (layer.scale == 0) layer.why_dense = "is multiplied by 0";
    }
    return true;
  }

  std::string unique_name(const flow::Node& node) {
    std::string name = node.name.empty() ? graph_.name(node.outputs[0]) : node.name;
    while (!names_.insert(name).second) name += "'";
    return name;
  }

  /// A constant of one number for each output, in this layer alone.
  bool own_vector(int32_t value, int64_t outputs) const {
    const flow::Tensor* constant = value == kNone ? nullptr : graph_.constant(value);
    return constant != nullptr && constant->type() == flow::Type::kFloat && constant->elements() == outputs &&
           constant->dims().back() == outputs && uses_[to_size(value)] == 1;
  }

  /// The one node that reads a value, or null.
  const flow::Node* only_reader(int32_t value) const {
    if (uses_[to_size(value)] != 1) return nullptr;
    for (const flow::Node& node : graph_.nodes) {
      if (std::count(node.inputs.begin(), node.inputs.end(), value) == 1) return &node;
    }
    return nullptr;
  }

  void take_bias(const flow::Node& node, Layer& layer) const {
    layer.bias = Vector::Zero(layer.outputs);
    if (node.inputs.size() < 3 || node.inputs[2] == kNone) return;
    const flow::Tensor* bias = graph_.constant(node.inputs[2]);
    if (bias == nullptr || (bias->elements() != 1 && bias->elements() != layer.outputs)) {
      layer.why_dense = "its bias is not a constant vector";
      return;
    }
    const double beta = node.op == "Gemm" ? node.number("beta", 1) : 1;
    for (int64_t k = 0; k < layer.outputs; ++k) {
      layer.bias(k) = beta * bias->values<float>()[bias->elements() == 1 ? 0 : static_cast<size_t>(k)];
    }
  }

  void look_behind(const flow::Node& node, Layer& layer) const {
    const int64_t outputs = layer.outputs;
    layer.importance = Vector::Ones(outputs);
    if (node.inputs.size() > 2 && own_vector(node.inputs[2], outputs)) {
      const double beta = node.op == "Gemm" ? node.number("beta", 1) : 1;
      if (beta != 0) layer.shift = {node.inputs[2], 1 / beta};
    }
    const flow::Node* next = only_reader(node.outputs[0]);
    if (next == nullptr) return;
    if (next->op == "BatchNormalization" && next->inputs.size() == 5 &&
        layer.kind == flow::WeightKind::kConv) {
      if (layer.shift.value == kNone && own_vector(next->inputs[3], outputs))
        layer.shift = {next->inputs[3], -1};
      weigh(*next, layer);
    }
    if (next->op == "Add" && layer.kind != flow::WeightKind::kConv && layer.shift.value == kNone) {
      const int32_t other = next->inputs[next->inputs[0] == node.outputs[0] ? 1 : 0];
      if (own_vector(other, outputs)) layer.shift = {other, 1};
    }
  }

  void weigh(const flow::Node& norm, Layer& layer) const {
    const flow::Tensor* scale = graph_.constant(norm.inputs[1]);
    const flow::Tensor* variance = graph_.constant(norm.inputs[4]);
    if (scale == nullptr || variance == nullptr || scale->elements() != layer.outputs ||
        variance->elements() != layer.outputs) {
      return;
    }
    const double epsilon = norm.number("epsilon", 1e-5F);
    for (int64_t k = 0; k < layer.outputs; ++k) {
      const double spread = variance->values<float>()[static_cast<size_t>(k)] + epsilon;
      const double factor = scale->values<float>()[static_cast<size_t>(k)] / std::sqrt(spread);
      if (std::isfinite(factor)) layer.importance(k) = std::abs(factor);
    }
  }

  const flow::Graph& graph_;
  std::vector<int32_t> uses_;
  std::set<std::string> names_;
};

/// Where an element of the matrix lies in the tensor.
size_t place_of(const Layer& layer, int64_t row, int64_t output) {
  const int64_t tap = row / layer.channels;
  const int64_t channel = row % layer.channels;
  switch (layer.kind) {
    case flow::WeightKind::kConv:
      return static_cast<size_t>((output * layer.channels + channel) * layer.taps + tap);
    case flow::WeightKind::kInOut:
      return static_cast<size_t>(row * layer.outputs + output);
    default:
      return static_cast<size_t>(output * layer.channels + row);
  }
}

}  // namespace

std::vector<Layer> find_layers(const flow::Graph& graph) { return Finder(graph).run(); }

Matrix weight_matrix(const flow::Graph& graph, const Layer& layer) {
  const auto values = graph.constant(layer.weight)->values<float>();
  Matrix out(layer.rows(), layer.outputs);
  for (int64_t k = 0; k < layer.outputs; ++k) {
    for (int64_t i = 0; i < layer.rows(); ++i) out(i, k) = values[place_of(layer, i, k)];
  }
  return out;
}

flow::Tensor weight_tensor(const flow::Graph& graph, const Layer& layer, const Matrix& matrix) {
  flow::Tensor out(graph.constant(layer.weight)->spec());
  auto values = out.values<float>();
  for (int64_t k = 0; k < layer.outputs; ++k) {
    for (int64_t i = 0; i < layer.rows(); ++i)
      values[place_of(layer, i, k)] = static_cast<float>(matrix(i, k));
  }
  return out;
}

void move_outputs(flow::Graph& graph, const Layer& layer, const Vector& by) {
  flow::Tensor& constant = graph.constants.at(layer.shift.value);
  flow::Tensor moved(constant.spec());
  std::memcpy(moved.bytes(), constant.bytes(), constant.byte_count());
  auto values = moved.values<float>();
  for (Index k = 0; k < by.size(); ++k) {
    float& value = values[static_cast<size_t>(k)];
    value = static_cast<float>(value + layer.shift.factor * by(k));
  }
  constant = moved;
}

}  // namespace hewn::refit
