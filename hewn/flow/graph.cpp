#include "hewn/flow/graph.h"

#include <algorithm>

#include "hewn/core/error.h"

namespace hewn::flow {
namespace {

template <class T>
const T* find_attribute(const Node& node, const std::string& name, const char* kind) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return nullptr;
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr) throw Error(str(to_string(node), ": attribute ", name, " is not ", kind));
  return value;
}

}  // namespace

int64_t Node::integer(const std::string& attribute, int64_t otherwise) const {
  const auto* value = find_attribute<int64_t>(*this, attribute, "an integer");
  return value == nullptr ? otherwise : *value;
}

float Node::number(const std::string& attribute, float otherwise) const {
  const auto* value = find_attribute<float>(*this, attribute, "a number");
  return value == nullptr ? otherwise : *value;
}

std::string Node::text(const std::string& attribute, const std::string& otherwise) const {
  const auto* value = find_attribute<std::string>(*this, attribute, "a text");
  return value == nullptr ? otherwise : *value;
}

std::vector<int64_t> Node::integers(const std::string& attribute, std::vector<int64_t> otherwise) const {
  const auto* value = find_attribute<std::vector<int64_t>>(*this, attribute, "a list of integers");
  if (value == nullptr) return otherwise;
  return *value;
}

const std::vector<int64_t>* Node::list(const std::string& attribute) const {
  return find_attribute<std::vector<int64_t>>(*this, attribute, "a list of integers");
}

const Tensor* Node::tensor(const std::string& attribute) const {
  return find_attribute<Tensor>(*this, attribute, "a tensor");
}

std::string to_string(const Node& node) {
  return node.name.empty() ? node.op : str(node.op, " (", node.name, ")");
}

int32_t Graph::add_value(std::string name) {
  values.push_back(std::move(name));
  return static_cast<int32_t>(values.size()) - 1;
}

const Tensor* Graph::constant(int32_t value) const {
  const auto found = constants.find(value);
  return found == constants.end() ? nullptr : &found->second;
}

std::vector<int32_t> count_uses(const Graph& graph) {
  std::vector<int32_t> uses(graph.values.size(), 0);
  const auto use = [&](int32_t value) {
    if (value != kNone) ++uses[static_cast<size_t>(value)];
  };
  for (const Node& node : graph.nodes) std::for_each(node.inputs.begin(), node.inputs.end(), use);
  for (const Port& port : graph.outputs) use(port.value);
  return uses;
}

std::vector<int32_t> makers(const Graph& graph) {
  std::vector<int32_t> made(graph.values.size(), kNone);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const int32_t value : graph.nodes[i].outputs) {
      if (value != kNone) made[static_cast<size_t>(value)] = static_cast<int32_t>(i);
    }
  }
  return made;
}

void remove_unused(Graph& graph) {
  std::vector<bool> needed(graph.values.size(), false);
  const auto need = [&](int32_t value) {
    if (value != kNone) needed[static_cast<size_t>(value)] = true;
  };
  for (const Port& port : graph.outputs) need(port.value);
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool useful = std::any_of(node->outputs.begin(), node->outputs.end(), [&](int32_t value) {
      return value != kNone && needed[static_cast<size_t>(value)];
    });
    if (!useful) continue;
    std::for_each(node->inputs.begin(), node->inputs.end(), need);
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  std::erase_if(graph.constants,
                [&](const auto& entry) { return !needed[static_cast<size_t>(entry.first)]; });
}

}  // namespace hewn::flow
