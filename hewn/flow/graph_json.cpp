#include "hewn/flow/graph_json.h"

#include <cmath>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/flow/op/operator.h"

namespace hewn::flow {
namespace {

constexpr size_t kMostValues = size_t{1} << 20;
constexpr size_t kMostAttributeNumbers = size_t{1} << 16;

Type type_named(const std::string& name) {
  for (const Type type : {Type::kFloat, Type::kInt, Type::kBool}) {
    if (name == name_of(type)) return type;
  }
  throw Error("its graph has elements of an unknown type");
}

[[noreturn]] void bad_graph(const char* what) { throw Error(str("its graph is damaged: ", what)); }

int64_t integer_in(const nlohmann::json& json, const char* what) {
  if (!json.is_number_integer()) bad_graph(what);
  return json.get<int64_t>();
}

const nlohmann::json& member(const nlohmann::json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) bad_graph(key);
  return json.at(key);
}

const nlohmann::json& list_in(const nlohmann::json& json, const char* key) {
  const nlohmann::json& list = member(json, key);
  if (!list.is_array() || list.size() > kMostValues) bad_graph(key);
  return list;
}

std::string text_in(const nlohmann::json& json, const char* key) {
  const nlohmann::json& text = member(json, key);
  if (!text.is_string()) bad_graph(key);
  return text.get<std::string>();
}

Dims dims_in(const nlohmann::json& json, const char* key, int64_t least) {
  Dims dims;
  for (const auto& dim : list_in(json, key)) {
    dims.push_back(integer_in(dim, key));
    if (dims.back() < least) bad_graph(key);
  }
  if (dims.size() > 16) bad_graph(key);
  return dims;
}

/// JSON has no word for what is not finite.
Json number_json(float number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

Json attribute_json(const Attribute& attribute) {
  if (const auto* value = std::get_if<int64_t>(&attribute)) return *value;
  if (const auto* value = std::get_if<float>(&attribute)) return {{"number", number_json(*value)}};
  if (const auto* value = std::get_if<std::string>(&attribute)) return *value;
  if (const auto* value = std::get_if<std::vector<int64_t>>(&attribute)) return *value;
  Json numbers = Json::array();
  if (const auto* values = std::get_if<std::vector<float>>(&attribute)) {
    for (const float value : *values) numbers.push_back(number_json(value));
    return {{"numbers", std::move(numbers)}};
  }
  const Tensor& tensor = std::get<Tensor>(attribute);
  for (size_t i = 0; i < static_cast<size_t>(tensor.elements()); ++i) {
    if (tensor.type() == Type::kFloat) numbers.push_back(number_json(tensor.values<float>()[i]));
    if (tensor.type() == Type::kInt) numbers.push_back(tensor.values<int64_t>()[i]);
    if (tensor.type() == Type::kBool) numbers.push_back(tensor.values<bool>()[i]);
  }
  return {{"tensor", name_of(tensor.type())}, {"dims", tensor.dims()}, {"numbers", std::move(numbers)}};
}

float number_in(const nlohmann::json& json) {
  if (json == "nan") return std::numeric_limits<float>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<float>::infinity();
  if (json == "-inf") return -std::numeric_limits<float>::infinity();
  if (!json.is_number()) bad_graph("an attribute is no number");
  return json.get<float>();
}

std::vector<float> numbers_in(const nlohmann::json& json) {
  std::vector<float> numbers;
  for (const auto& number : list_in(json, "numbers")) numbers.push_back(number_in(number));
  if (numbers.size() > kMostAttributeNumbers) bad_graph("an attribute is too long");
  return numbers;
}

Attribute attribute_in(const nlohmann::json& json) {
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    std::vector<int64_t> list;
    for (const auto& number : json) list.push_back(integer_in(number, "an attribute"));
    return list;
  }
  if (json.is_object() && json.contains("number")) return number_in(json.at("number"));
  if (!json.is_object() || !json.contains("tensor")) return numbers_in(json);
  const Spec spec{type_named(text_in(json, "tensor")), dims_in(json, "dims", 0)};
  const nlohmann::json& numbers = list_in(json, "numbers");
  if (static_cast<size_t>(spec.elements()) != numbers.size()) bad_graph("a tensor has another length");
  Tensor out(spec);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (spec.type == Type::kFloat) out.values<float>()[i] = number_in(numbers[i]);
    if (spec.type == Type::kInt) out.values<int64_t>()[i] = integer_in(numbers[i], "a tensor");
    if (spec.type == Type::kBool) out.values<bool>()[i] = numbers[i] == true;
  }
  return out;
}

Json ports_json(const Graph& graph, const std::vector<Port>& ports) {
  Json out = Json::array();
  for (const Port& port : ports) {
    out.push_back({{"value", port.value},
                   {"name", graph.name(port.value)},
                   {"type", name_of(port.spec.type)},
                   {"dims", port.spec.dims}});
  }
  return out;
}

/// Reads a graph and remembers which values are made.
class Reader {
 public:
  explicit Reader(const nlohmann::json& json) : json_(json) {}

  Graph run() {
    const int64_t values = integer_in(member(json_, "values"), "values");
    if (values < 0 || values > static_cast<int64_t>(kMostValues)) bad_graph("values");
    graph_.values.resize(static_cast<size_t>(values));
    made_.resize(static_cast<size_t>(values), false);
    for (const auto& constant : list_in(json_, "constants"))
      graph_.constants[make(constant)] = tensor_of(0.0F);
    for (const auto& input : list_in(json_, "inputs")) graph_.inputs.push_back(port(input, true));
    for (const auto& node : list_in(json_, "nodes")) graph_.nodes.push_back(read_node(node));
    for (const auto& output : list_in(json_, "outputs")) graph_.outputs.push_back(port(output, false));
    if (graph_.outputs.empty()) bad_graph("it has no output");
    return std::move(graph_);
  }

 private:
  int32_t value(const nlohmann::json& json) const {
    const int64_t number = integer_in(json, "a value");
    if (number < 0 || number >= static_cast<int64_t>(made_.size())) bad_graph("a value is not there");
    return static_cast<int32_t>(number);
  }
  int32_t make(const nlohmann::json& json) {
    const int32_t number = value(json);
    if (made_[static_cast<size_t>(number)]) bad_graph("a value is made twice");
    made_[static_cast<size_t>(number)] = true;
    return number;
  }
  int32_t use(const nlohmann::json& json) const {
    const int32_t number = value(json);
    if (!made_[static_cast<size_t>(number)]) bad_graph("a value is used before it is made");
    return number;
  }
  Port port(const nlohmann::json& json, bool input) {
    Port out{input ? make(member(json, "value")) : use(member(json, "value")),
             {type_named(text_in(json, "type")), dims_in(json, "dims", -1)}};
    graph_.values[static_cast<size_t>(out.value)] = text_in(json, "name");
    return out;
  }
  Node read_node(const nlohmann::json& json) {
    Node node;
    node.op = text_in(json, "op");
    if (find_operator(node.op) == nullptr)
      throw Error("its graph has an operator that this version of hewn does not know");
    node.opset = integer_in(member(json, "opset"), "opset");
    if (json.contains("name")) node.name = text_in(json, "name");
    for (const auto& in : list_in(json, "in")) node.inputs.push_back(in == kNone ? kNone : use(in));
    for (const auto& out : list_in(json, "out")) node.outputs.push_back(out == kNone ? kNone : make(out));
    if (json.contains("attributes")) {
      const nlohmann::json& attributes = json.at("attributes");
      if (!attributes.is_object()) bad_graph("attributes");
      for (const auto& [key, attribute] : attributes.items()) node.attributes[key] = attribute_in(attribute);
    }
    return node;
  }

  const nlohmann::json& json_;
  Graph graph_;
  std::vector<bool> made_;
};

}  // namespace

Json to_json(const Graph& graph) {
  Json out = {{"values", graph.values.size()}, {"inputs", ports_json(graph, graph.inputs)}};
  Json constants = Json::array();
  for (const auto& [value, tensor] : graph.constants) constants.push_back(value);
  out["constants"] = std::move(constants);
  Json nodes = Json::array();
  for (const Node& node : graph.nodes) {
    Json one = {{"op", node.op}, {"opset", node.opset}, {"in", node.inputs}, {"out", node.outputs}};
    if (!node.name.empty()) one["name"] = valid_utf8(node.name);
    for (const auto& [key, attribute] : node.attributes) one["attributes"][key] = attribute_json(attribute);
    nodes.push_back(std::move(one));
  }
  out["nodes"] = std::move(nodes);
  out["outputs"] = ports_json(graph, graph.outputs);
  return out;
}

Graph graph_from_json(const nlohmann::json& json) { return Reader(json).run(); }

}  // namespace hewn::flow
