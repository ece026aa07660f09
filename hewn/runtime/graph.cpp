#include "hewn/runtime/graph.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {

std::string to_string(const Shape& shape) { return str(shape.channels, "x", shape.height, "x", shape.width); }

std::string_view name_of(Op op) { return operator_of(op).name; }
size_t count_inputs(Op op) { return operator_of(op).inputs; }
std::optional<Op> op_named(std::string_view name) {
  for (size_t i = 0; i < operators().size(); ++i) {
    if (operators()[i]->name == name) return static_cast<Op>(i);
  }
  return std::nullopt;
}
bool has_weight(const Node& node) { return operator_of(node.op).tensors == Tensors::kWeight; }
bool has_table(const Node& node) { return operator_of(node.op).tensors == Tensors::kTable; }
bool takes_values(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), has_table);
}
std::vector<int64_t> vocabularies_of(const Graph& graph) {
  std::vector<int64_t> out;
  for (const Node& node : graph.nodes) {
    if (!has_table(node)) continue;
    if (out.empty()) out = node.vocabularies;
    for (size_t f = 0; f < out.size(); ++f) out[f] = std::min(out[f], node.vocabularies[f]);
  }
  return out;
}

int32_t Graph::append(Op op, std::vector<int32_t> inputs) {
  Node& node = nodes.emplace_back();
  node.op = op;
  node.inputs = std::move(inputs);
  return static_cast<int32_t>(nodes.size()) - 1;
}

int32_t Graph::input(const Shape& shape) {
  const int32_t i = append(Op::kInput, {});
  nodes.back().shape = shape;
  return i;
}
int32_t Graph::linear(const std::string& name, int32_t in, int64_t outputs) {
  const int32_t i = append(Op::kLinear, {in});
  nodes.back().name = name;
  nodes.back().outputs = outputs;
  return i;
}
int32_t Graph::conv2d(const std::string& name, int32_t in, int64_t outputs,
                      const kernels::ConvGeometry& window) {
  const int32_t i = append(Op::kConv2d, {in});
  nodes.back().name = name;
  nodes.back().outputs = outputs;
  nodes.back().window = window;
  return i;
}
int32_t Graph::batch_norm(const std::string& name, int32_t in, double epsilon) {
  const int32_t i = append(Op::kBatchNorm, {in});
  nodes.back().name = name;
  nodes.back().epsilon = epsilon;
  return i;
}
int32_t Graph::relu(int32_t in) { return append(Op::kRelu, {in}); }
int32_t Graph::add(int32_t a, int32_t b) { return append(Op::kAdd, {a, b}); }
int32_t Graph::max_pool(int32_t in, const kernels::ConvGeometry& window) {
  const int32_t i = append(Op::kMaxPool, {in});
  nodes.back().window = window;
  return i;
}
int32_t Graph::global_avg_pool(int32_t in) { return append(Op::kGlobalAvgPool, {in}); }
int32_t Graph::flatten(int32_t in) { return append(Op::kFlatten, {in}); }
int32_t Graph::subsample(int32_t in, int64_t stride, const std::array<int64_t, 2>& pad) {
  const int32_t i = append(Op::kSubsample, {in});
  nodes.back().window.stride = stride;
  nodes.back().pad = pad;
  return i;
}
int32_t Graph::embedding(const std::string& name, int32_t in, std::vector<int64_t> vocabularies,
                         int64_t width) {
  const int32_t i = append(Op::kEmbedding, {in});
  nodes.back().name = name;
  nodes.back().width = width;
  nodes.back().vocabularies = std::move(vocabularies);
  return i;
}

std::vector<int32_t> count_uses(const Graph& graph) {
  std::vector<int32_t> uses(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const int32_t in : node.inputs) ++uses[static_cast<size_t>(in)];
  }
  return uses;
}

}  // namespace hewn::runtime
