#include "hewn/runtime/graph_json.h"
#include "hewn/runtime/node_json.h"

namespace hewn::runtime {
namespace {

Node read_node(const nlohmann::json& json, size_t index) {
  const ObjectReader reader(json, str("graph node ", index));
  const std::optional<Op> op = op_named(reader.text("op"));
  if (!op) throw reader.bad("has an unknown op");
  Node node;
  node.op = *op;
  if ((node.op == Op::kInput) != (index == 0)) throw reader.bad("the input must be node 0 and no other");
  const size_t inputs = count_inputs(node.op);
  if (inputs > 0) {
    for (const int64_t in : reader.sizes("in", 0, static_cast<int64_t>(index) - 1)) {
      node.inputs.push_back(static_cast<int32_t>(in));
    }
    if (node.inputs.size() != inputs) throw reader.bad(str("\"in\" is not ", inputs, " nodes"));
  }
  read_attributes(reader, node);
  if (has_weight(node)) node.outputs = reader.size("out", 1);
  if (node.op == Op::kInput) {
    const auto shape = reader.tuple<3>("shape", 1);
    node.shape = {shape[0], shape[1], shape[2]};
  }
  return node;
}

}  // namespace

Graph graph_from_json_v1(const nlohmann::json& json) {
  const ObjectReader reader(json, "graph");
  const nlohmann::json& nodes = reader.list("nodes");
  if (nodes.empty()) throw reader.bad("has no nodes");
  if (nodes.size() > kMaxNodes) throw reader.bad(str("has more than ", kMaxNodes, " nodes"));
  Graph graph;
  for (size_t i = 0; i < nodes.size(); ++i) graph.nodes.push_back(read_node(nodes[i], i));
  return graph;
}

}  // namespace hewn::runtime
