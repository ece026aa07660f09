#include <map>
#include <set>

#include "hewn/runtime/graph_json.h"
#include "hewn/runtime/node_json.h"

namespace hewn::runtime {
namespace {

constexpr const char* kBatch = "batch";
constexpr const char* kType = "f32";

/// Tensors of these names belong to the preprocessing.
bool is_reserved(std::string_view layer) {
  return layer == "preprocessing" || layer.starts_with("preprocessing.");
}

/// A vector is written as such, not as an image of one pixel.
Json to_json(const Shape& shape) {
  if (shape.height == 1 && shape.width == 1) return Json::array({kBatch, shape.channels});
  return Json::array({kBatch, shape.channels, shape.height, shape.width});
}

Shape read_shape(const ObjectReader& reader) {
  const nlohmann::json& list = reader.list("shape");
  if (list.empty() || list[0] != kBatch) throw reader.bad("\"shape\" does not begin with \"batch\"");
  if (list.size() != 2 && list.size() != 4) {
    throw reader.bad(str("\"shape\" has ", list.size(),
                         " dimensions; this version of hewn takes [\"batch\", features] and [\"batch\", "
                         "channels, height, width]"));
  }
  std::array<int64_t, 3> sizes = {1, 1, 1};
  for (size_t i = 1; i < list.size(); ++i) {
    if (list[i].is_string()) {
      throw reader.bad(str("\"shape\" leaves ", in_quotes(list[i].get_ref<const std::string&>()),
                           " open; this version of hewn takes no other open size than \"batch\""));
    }
    sizes[i - 1] = reader.size(list[i], "shape", 1, kMaxSize);
  }
  return {sizes[0], sizes[1], sizes[2]};
}

void check_type(const ObjectReader& reader) {
  const std::string type = reader.text("type");
  if (type != kType) {
    throw reader.bad(str("is of type ", in_quotes(type), "; this version of hewn takes f32"));
  }
}

/// All at once, so that one look says what a file would need.
void refuse_unknown_ops(const nlohmann::json& nodes) {
  std::set<std::string> unknown;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string op = ObjectReader(nodes[i], str("graph node ", i + 1)).text("op");
    // The input is no node any more.
    if (op == name_of(Op::kInput) || !op_named(op)) unknown.insert(op);
  }
  if (unknown.empty()) return;
  throw Error("has ops that this version of hewn does not know: " +
              in_quotes(std::vector<std::string>(unknown.begin(), unknown.end())));
}

class GraphReader {
 public:
  GraphReader(const nlohmann::json& json, const Limits& limits) : reader_(json, "graph"), limits_(limits) {}

  Graph read() {
    const nlohmann::json& nodes = reader_.list("nodes");
    if (nodes.size() >= kMaxNodes) throw reader_.bad(str("has ", kMaxNodes, " nodes or more"));
    refuse_unknown_ops(nodes);
    const nlohmann::json& input = only("inputs");
    const nlohmann::json& output = only("outputs");
    reader_.expect_no_more();
    read_input(input);
    for (size_t i = 0; i < nodes.size(); ++i) read_node(nodes[i]);
    read_output(output);
    return std::move(graph_);
  }

 private:
  const nlohmann::json& only(const char* key) const {
    const nlohmann::json& list = reader_.list(key);
    if (list.size() == 1) return list[0];
    throw reader_.bad(str("has ", list.size(), " ", key,
                          "; this version of hewn runs models with one input and one output"));
  }

  /// The next node makes a value of this name.
  void define(const ObjectReader& reader, const std::string& name) {
    if (name.empty()) throw reader.bad("makes a value without a name");
    if (!values_.emplace(name, static_cast<int32_t>(graph_.nodes.size())).second) {
      throw reader.bad(str("makes ", in_quotes(name), " a second time"));
    }
  }

  void read_input(const nlohmann::json& json) {
    const ObjectReader reader(json, "graph input");
    define(reader, reader.text("name"));
    check_type(reader);
    graph_.input(read_shape(reader));
    reader.expect_no_more();
  }

  void read_node(const nlohmann::json& json) {
    // In memory the input is node 0, and other messages count from there.
    const ObjectReader reader(json, str("graph node ", graph_.nodes.size()));
    Node node;
    node.op = *op_named(reader.text("op"));
    for (const std::string& name : value_names(reader, "in", count_inputs(node.op))) {
      const auto found = values_.find(name);
      if (found == values_.end())
        throw reader.bad(str("reads ", in_quotes(name), ", which nothing before it makes"));
      node.inputs.push_back(found->second);
    }
    define(reader, value_names(reader, "out", 1)[0]);
    read_attributes(reader, node);
    if (is_reserved(node.name)) throw reader.bad(str("may not be called ", in_quotes(node.name)));
    if (has_weight(node)) node.outputs = reader.size("outputs", 1);
    if (node.op == Op::kConv2d && reader.find("groups") != nullptr && reader.size("groups", 1) != 1) {
      throw reader.bad("has \"groups\", which this version of hewn cannot run");
    }
    reader.expect_no_more();
    graph_.nodes.push_back(std::move(node));
  }

  static std::vector<std::string> value_names(const ObjectReader& reader, const char* key, size_t count) {
    const nlohmann::json& list = reader.list(key);
    if (list.size() != count) throw reader.bad(str("\"", key, "\" is not ", count, " values"));
    std::vector<std::string> out;
    for (const nlohmann::json& name : list) {
      if (!name.is_string()) throw reader.bad(str("\"", key, "\" holds something else than names"));
      out.push_back(name.get<std::string>());
    }
    return out;
  }

  void read_output(const nlohmann::json& json) const {
    const ObjectReader reader(json, "graph output");
    if (reader.text("name").empty()) throw reader.bad("has no name");
    const std::string value = reader.text("value");
    const auto found = values_.find(value);
    if (found == values_.end()) throw reader.bad(str("is ", in_quotes(value), ", which nothing makes"));
    if (static_cast<size_t>(found->second) + 1 != graph_.nodes.size()) {
      throw reader.bad(str("is ", in_quotes(value), ", which is not what the last node makes"));
    }
    if (reader.find("type") != nullptr) check_type(reader);
    if (reader.find("shape") != nullptr && read_shape(reader) != infer_shapes(graph_, limits_).back()) {
      throw reader.bad("\"shape\" is not that of its value");
    }
    reader.expect_no_more();
  }

  ObjectReader reader_;
  const Limits& limits_;
  Graph graph_;
  std::map<std::string, int32_t> values_;  // name -> node that makes it
};

/// Layers give their name to what they make, other nodes their number.
std::vector<std::string> name_values(const Graph& graph) {
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    std::string name = i == 0 ? "input" : graph.nodes[i].name;
    if (name.empty()) name = str("v", i);
    while (!taken.insert(name).second) name += '_';
    names.push_back(name);
  }
  return names;
}

}  // namespace

Json to_json(const Graph& graph) {
  const std::vector<std::string> names = name_values(graph);
  Json nodes = Json::array();
  for (size_t i = 1; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (is_reserved(node.name)) throw Error(str("a layer may not be called ", in_quotes(node.name)));
    Json& json = nodes.emplace_back(Json{{"op", name_of(node.op)}, {"in", Json::array()}});
    for (const int32_t in : node.inputs) json["in"].push_back(names[static_cast<size_t>(in)]);
    json["out"] = Json::array({names[i]});
    write_attributes(node, json);
    if (has_weight(node)) json["outputs"] = node.outputs;
  }
  const Json input = {{"name", names[0]}, {"type", kType}, {"shape", to_json(graph.nodes.front().shape)}};
  const Json output = {{"name", "output"},
                       {"value", names.back()},
                       {"type", kType},
                       {"shape", to_json(infer_shapes(graph, {}).back())}};
  return {{"inputs", Json::array({input})}, {"outputs", Json::array({output})}, {"nodes", nodes}};
}

Graph graph_from_json(const nlohmann::json& json, const Limits& limits) {
  return GraphReader(json, limits).read();
}

}  // namespace hewn::runtime
