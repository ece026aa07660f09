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

// Keeps products of a few sizes far from overflow.
constexpr int64_t kMaxSize = int64_t{1} << 24;
constexpr int64_t kMaxKernel = int64_t{1} << 12;
// Planning may take time that grows with the square of the nodes.
constexpr size_t kMaxNodes = size_t{1} << 14;

/// Reads the attributes of one node; every error names it.
class Reader {
 public:
  Reader(const Json& json, size_t index) : json_(json), index_(index) {
    if (!json.is_object()) throw bad("is not an object");
  }

  Error bad(const std::string& what) const { return Error(str("graph node ", index_, ": ", what)); }

  const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) throw bad(str("has no \"", key, "\""));
    return *found;
  }

  std::string text(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string()) throw bad(str("\"", key, "\" is not a string"));
    return value.get<std::string>();
  }

  int64_t size(const Json& value, const char* key, int64_t least, int64_t most) const {
    if (!value.is_number_integer()) throw bad(str("\"", key, "\" is not a whole number"));
    const bool huge = value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(most);
    if (huge || value.get<int64_t>() < least || value.get<int64_t>() > most) {
      throw bad(str("\"", key, "\" is outside ", least, " to ", most));
    }
    return value.get<int64_t>();
  }
  int64_t size(const char* key, int64_t least, int64_t most = kMaxSize) const {
    return size(at(key), key, least, most);
  }

  template <size_t kCount>
  std::array<int64_t, kCount> sizes(const char* key, int64_t least, int64_t most = kMaxSize) const {
    const Json& list = at(key);
    if (!list.is_array() || list.size() != kCount)
      throw bad(str("\"", key, "\" is not ", kCount, " numbers"));
    std::array<int64_t, kCount> out{};
    for (size_t i = 0; i < kCount; ++i) out[i] = size(list[i], key, least, most);
    return out;
  }

  std::vector<int64_t> list(const char* key, int64_t least) const {
    const Json& values = at(key);
    if (!values.is_array()) throw bad(str("\"", key, "\" is not a list"));
    std::vector<int64_t> out;
    for (const Json& value : values) out.push_back(size(value, key, least, kMaxSize));
    return out;
  }

  kernels::ConvGeometry window() const {
    const auto kernel = sizes<2>("kernel", 1, kMaxKernel);
    return {kernel[0], kernel[1], size("stride", 1), size("padding", 0, kMaxKernel),
            size("dilation", 1, kMaxKernel)};
  }

  std::vector<int32_t> inputs(size_t count) const {
    std::vector<int32_t> out;
    if (count == 0) return out;
    const Json& list = at("in");
    if (!list.is_array() || list.size() != count) throw bad(str("\"in\" is not ", count, " nodes"));
    for (const Json& value : list) {
      out.push_back(static_cast<int32_t>(size(value, "in", 0, static_cast<int64_t>(index_) - 1)));
    }
    return out;
  }

 private:
  const Json& json_;
  size_t index_;
};

Node read_node(const Json& json, size_t index) {
  const Reader reader(json, index);
  const std::string op = reader.text("op");
  const OpRow* row = nullptr;
  for (const OpRow& candidate : kOps) {
    if (candidate.name == op) row = &candidate;
  }
  if (row == nullptr) throw reader.bad("has an unknown op");
  Node node;
  node.op = row->op;
  if ((node.op == Op::kInput) != (index == 0)) throw reader.bad("the input must be node 0 and no other");
  node.inputs = reader.inputs(row->inputs);
  if (has_weight(node) || node.op == Op::kBatchNorm || node.op == Op::kEmbedding) {
    node.name = reader.text("name");
  }
  if (has_weight(node)) node.outputs = reader.size("out", 1);
  if (node.op == Op::kConv2d || node.op == Op::kMaxPool) node.window = reader.window();
  if (node.op == Op::kInput) {
    const auto shape = reader.sizes<3>("shape", 1);
    node.shape = {shape[0], shape[1], shape[2]};
  } else if (node.op == Op::kSubsample) {
    node.window.stride = reader.size("stride", 1);
    node.pad = reader.sizes<2>("pad", 0);
  } else if (node.op == Op::kBatchNorm) {
    if (!reader.at("epsilon").is_number()) throw reader.bad("\"epsilon\" is not a number");
    node.epsilon = reader.at("epsilon").get<double>();
  } else if (node.op == Op::kEmbedding) {
    node.width = reader.size("width", 1);
    node.vocabularies = reader.list("vocabularies", 1);
  }
  return node;
}

Json write_node(const Node& node) {
  Json json = {{"op", name_of(node.op)}};
  if (!node.inputs.empty()) json["in"] = node.inputs;
  if (!node.name.empty()) json["name"] = node.name;
  if (has_weight(node)) json["out"] = node.outputs;
  if (node.op == Op::kConv2d || node.op == Op::kMaxPool) {
    json["kernel"] = {node.window.kernel_height, node.window.kernel_width};
    json["stride"] = node.window.stride;
    json["padding"] = node.window.padding;
    json["dilation"] = node.window.dilation;
  } else if (node.op == Op::kInput) {
    json["shape"] = {node.shape.channels, node.shape.height, node.shape.width};
  } else if (node.op == Op::kSubsample) {
    json["stride"] = node.window.stride;
    json["pad"] = node.pad;
  } else if (node.op == Op::kBatchNorm) {
    json["epsilon"] = node.epsilon;
  } else if (node.op == Op::kEmbedding) {
    json["width"] = node.width;
    json["vocabularies"] = node.vocabularies;
  }
  return json;
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

Json to_json(const Graph& graph) {
  Json nodes = Json::array();
  for (const Node& node : graph.nodes) nodes.push_back(write_node(node));
  return {{"nodes", nodes}};
}

Graph graph_from_json(const Json& json) {
  if (!json.is_object() || !json.contains("nodes") || !json["nodes"].is_array() || json["nodes"].empty()) {
    throw Error("graph: expected an object with a list of \"nodes\"");
  }
  Graph graph;
  const Json& nodes = json["nodes"];
  if (nodes.size() > kMaxNodes) throw Error(str("graph: has more than ", kMaxNodes, " nodes"));
  for (size_t i = 0; i < nodes.size(); ++i) graph.nodes.push_back(read_node(nodes[i], i));
  return graph;
}

std::vector<int32_t> count_uses(const Graph& graph) {
  std::vector<int32_t> uses(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const int32_t in : node.inputs) ++uses[static_cast<size_t>(in)];
  }
  return uses;
}

}  // namespace hewn::runtime
