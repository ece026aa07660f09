#include "hewn/runtime/graph.h"

#include <algorithm>

#include "hewn/core/error.h"

namespace hewn::runtime {
namespace {

struct OpRow {
  Op op;
  std::string_view name;
  size_t inputs;
};
constexpr std::array<OpRow, 11> kOps = {{{Op::kInput, "input", 0},
                                         {Op::kLinear, "linear", 1},
                                         {Op::kConv2d, "conv2d", 1},
                                         {Op::kBatchNorm, "batch_norm", 1},
                                         {Op::kRelu, "relu", 1},
                                         {Op::kAdd, "add", 2},
                                         {Op::kMaxPool, "max_pool", 1},
                                         {Op::kGlobalAvgPool, "global_avg_pool", 1},
                                         {Op::kFlatten, "flatten", 1},
                                         {Op::kSubsample, "subsample", 1},
                                         {Op::kEmbedding, "embedding", 1}}};

const OpRow& row_of(Op op) {
  for (const OpRow& row : kOps) {
    if (row.op == op) return row;
  }
  throw Error("graph: op outside the table");
}

int32_t push(Graph& graph, Node node) {
  graph.nodes.push_back(std::move(node));
  return static_cast<int32_t>(graph.nodes.size()) - 1;
}

Node make(Op op, std::vector<int32_t> inputs) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  return node;
}

}  // namespace

std::string to_string(const Shape& shape) { return str(shape.channels, "x", shape.height, "x", shape.width); }

std::string_view name_of(Op op) { return row_of(op).name; }
size_t count_inputs(Op op) { return row_of(op).inputs; }
std::optional<Op> op_named(std::string_view name) {
  for (const OpRow& row : kOps) {
    if (row.name == name) return row.op;
  }
  return std::nullopt;
}
bool has_weight(const Node& node) { return node.op == Op::kLinear || node.op == Op::kConv2d; }
bool takes_values(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const Node& node) { return node.op == Op::kEmbedding; });
}

int32_t Graph::input(const Shape& shape) {
  Node node = make(Op::kInput, {});
  node.shape = shape;
  return push(*this, node);
}
int32_t Graph::linear(const std::string& name, int32_t in, int64_t outputs) {
  Node node = make(Op::kLinear, {in});
  node.name = name;
  node.outputs = outputs;
  return push(*this, node);
}
int32_t Graph::conv2d(const std::string& name, int32_t in, int64_t outputs,
                      const kernels::ConvGeometry& window) {
  Node node = make(Op::kConv2d, {in});
  node.name = name;
  node.outputs = outputs;
  node.window = window;
  return push(*this, node);
}
int32_t Graph::batch_norm(const std::string& name, int32_t in, double epsilon) {
  Node node = make(Op::kBatchNorm, {in});
  node.name = name;
  node.epsilon = epsilon;
  return push(*this, node);
}
int32_t Graph::relu(int32_t in) { return push(*this, make(Op::kRelu, {in})); }
int32_t Graph::add(int32_t a, int32_t b) { return push(*this, make(Op::kAdd, {a, b})); }
int32_t Graph::max_pool(int32_t in, const kernels::ConvGeometry& window) {
  Node node = make(Op::kMaxPool, {in});
  node.window = window;
  return push(*this, node);
}
int32_t Graph::global_avg_pool(int32_t in) { return push(*this, make(Op::kGlobalAvgPool, {in})); }
int32_t Graph::flatten(int32_t in) { return push(*this, make(Op::kFlatten, {in})); }
int32_t Graph::subsample(int32_t in, int64_t stride, const std::array<int64_t, 2>& pad) {
  Node node = make(Op::kSubsample, {in});
  node.window.stride = stride;
  node.pad = pad;
  return push(*this, node);
}
int32_t Graph::embedding(const std::string& name, int32_t in, std::vector<int64_t> vocabularies,
                         int64_t width) {
  Node node = make(Op::kEmbedding, {in});
  node.name = name;
  node.width = width;
  node.vocabularies = std::move(vocabularies);
  return push(*this, node);
}

std::vector<int32_t> count_uses(const Graph& graph) {
  std::vector<int32_t> uses(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const int32_t in : node.inputs) ++uses[static_cast<size_t>(in)];
  }
  return uses;
}

}  // namespace hewn::runtime
