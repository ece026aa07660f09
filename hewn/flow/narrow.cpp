#include "hewn/flow/narrow.h"

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/core/text.h"

namespace hewn::flow {
namespace {

/// Where fewer bits go along.
class Marker {
 public:
  explicit Marker(const Graph& graph) : graph_(graph), uses_(count_uses(graph)) {}

  NarrowValues read_by_products(const std::set<int32_t>& weights) {
    for (const Node& node : graph_.nodes) {
      if (node.inputs.size() > 1 && weights.contains(node.inputs[1])) {
        out_.values.insert(node.inputs[0]);
        products_.insert(node.outputs[0]);
      }
    }
    for (const Node& node : graph_.nodes) {
      if (node.op == "GlobalAveragePool") out_.values.insert(node.inputs[0]);
    }
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) go_back(*node);
    return std::move(out_);
  }

 private:
  /// From what is narrow behind a node to what is before it.
  void go_back(const Node& node) {
    const int32_t out = node.outputs[0];
    if (node.op == "MaxPool" && out_.values.contains(out) && !graph_.constant(node.inputs[0])) {
      out_.values.insert(node.inputs[0]);
      out_.like[out] = node.inputs[0];
    }
    if (node.op != "Add" || !behind_add(out)) return;
    for (const int32_t side : node.inputs) {
      if (uses_[static_cast<size_t>(side)] == 1 && products_.contains(side)) out_.values.insert(side);
    }
  }
  /// Whether the sum, or what a relu makes of it, is narrow.
  bool behind_add(int32_t sum) const {
    if (out_.values.contains(sum)) return true;
    return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& node) {
      return node.op == "Relu" && node.inputs[0] == sum && out_.values.contains(node.outputs[0]);
    });
  }

  const Graph& graph_;
  std::vector<int32_t> uses_;
  std::set<int32_t> products_;
  NarrowValues out_;
};

}  // namespace

NarrowValues narrow_values(const Graph& graph, const std::set<int32_t>& weights) {
  return Marker(graph).read_by_products(weights);
}

std::string layer_name(const Graph& graph, const Node& node) {
  return node.name.empty() ? graph.name(node.outputs[0]) : node.name;
}

void check_kept(const std::vector<std::string>& keep, const std::vector<std::string>& names) {
  for (const std::string& name : keep) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error(str("keep-f32: there is no layer ", name, "; there are ", join(names)));
  }
}

}  // namespace hewn::flow
