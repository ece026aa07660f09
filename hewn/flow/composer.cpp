#include "hewn/flow/composer.h"

#include "hewn/core/error.h"

namespace hewn::flow {

int32_t Composer::input(const std::string& name, Spec spec) {
  const int32_t value = graph_.add_value(name);
  graph_.inputs.push_back({value, std::move(spec)});
  return value;
}

int32_t Composer::constant(const std::string& name, Tensor tensor) {
  const int32_t value = graph_.add_value(name);
  graph_.constants[value] = std::move(tensor);
  return value;
}

int32_t Composer::shared(const std::string& name, const Tensor& tensor) {
  const auto [found, fresh] = shared_.try_emplace(name, kNone);
  if (fresh) found->second = constant(name, tensor);
  return found->second;
}

int32_t Composer::number(float value) { return shared(str("number ", value), tensor_of(value)); }

int32_t Composer::index(int64_t value) {
  return shared(str("index ", value), tensor_of(std::vector{value}).shaped({}));
}

int32_t Composer::list(const std::vector<int64_t>& values) {
  return shared(str("list ", to_string(values)), tensor_of(values));
}

int32_t Composer::node(const std::string& op, const std::string& name, std::vector<int32_t> inputs,
                       Attributes attributes) {
  Node node;
  node.op = op;
  node.name = name;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  if (op == "Gelu") node.opset = 20;
  node.outputs = {graph_.add_value(name)};
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs[0];
}

std::vector<int32_t> Composer::split(const std::string& name, int32_t in, int64_t axis,
                                     const std::vector<int64_t>& sizes) {
  const int32_t lengths = list(sizes);
  std::vector<int32_t> outputs = {node("Split", name, {in, lengths}, {{"axis", axis}})};
  while (outputs.size() < sizes.size()) outputs.push_back(graph_.add_value(name));
  graph_.nodes.back().outputs = outputs;
  return outputs;
}

Graph Composer::finish(int32_t output, const std::string& name, Spec spec) {
  graph_.values[static_cast<size_t>(output)] = name;
  graph_.outputs = {{output, std::move(spec)}};
  return std::move(graph_);
}

}  // namespace hewn::flow
