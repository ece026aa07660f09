#include "hewn/flow/passes/specialise.h"

#include <algorithm>

#include "hewn/flow/evaluate.h"

namespace hewn::flow {
namespace {

/// What a node's shape asked for comes from these inputs of the graph.
std::set<int32_t> inputs_behind(const Graph& graph, int32_t value) {
  const std::vector<int32_t> made = makers(graph);
  std::set<int32_t> found;
  std::set<int32_t> seen;
  std::vector<int32_t> open = {value};
  while (!open.empty()) {
    const int32_t next = open.back();
    open.pop_back();
    if (next == kNone || !seen.insert(next).second || graph.constant(next) != nullptr) continue;
    const int32_t maker = made[static_cast<size_t>(next)];
    if (maker == kNone) {
      found.insert(next);
    } else {
      const Node& node = graph.nodes[static_cast<size_t>(maker)];
      if (node.op != "Shape" && node.op != "Size")
        open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
  }
  return found;
}

void expect_fit(const Graph& graph, const Port& port, const Spec& spec) {
  const Spec& wanted = port.spec;
  bool fits = wanted.type == spec.type && wanted.dims.size() == spec.dims.size();
  for (size_t i = 0; fits && i < spec.dims.size(); ++i) {
    fits = wanted.dims[i] < 0 || wanted.dims[i] == spec.dims[i];
  }
  if (fits) return;
  std::string expected;
  for (const int64_t dim : wanted.dims)
    expected += (expected.empty() ? "" : "x") + (dim < 0 ? "?" : std::to_string(dim));
  throw Error(str("input ", graph.name(port.value), ": expected ", name_of(wanted.type), " ", expected,
                  ", got ", to_string(spec)));
}

/// One node: folded where all that it needs is known, else asked for its shapes.
class Walker {
 public:
  Walker(const Graph& whole, Special& special) : whole_(whole), special_(special), graph_(special.graph) {}

  void run() {
    std::vector<Node> left;
    for (Node& node : graph_.nodes) {
      if (!fold(node)) left.push_back(std::move(node));
    }
    graph_.nodes = std::move(left);
    remove_unused(graph_);
  }

 private:
  // Numbers that only shapes are made of are few: larger constants are better made when they are needed.
  static constexpr int64_t kMostFolded = int64_t{1} << 20;

  static std::byte* data_of(const Tensor& constant) { return const_cast<std::byte*>(constant.bytes()); }

  bool fold(const Node& node) {
    std::vector<View> views(node.inputs.size());
    Call call{.node = &node, .in = {}, .out = {}};
    bool known = true;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int32_t value = node.inputs[i];
      const Tensor* constant = value == kNone ? nullptr : graph_.constant(value);
      if (value != kNone) views[i].spec = special_.specs[static_cast<size_t>(value)];
      // A weight of which only the blocks are there stays so: no shape is made of its numbers.
      if (constant != nullptr && constant->kept() == nullptr) views[i].data = data_of(*constant);
      known = known && (value == kNone || constant != nullptr);
      call.in.push_back(value == kNone ? nullptr : &views[i]);
    }
    const std::vector<Spec> specs = ask(call);
    int64_t elements = 0;
    for (size_t i = 0; i < specs.size(); ++i) {
      elements += specs[i].elements();
      if (node.outputs[i] != kNone) special_.specs[static_cast<size_t>(node.outputs[i])] = specs[i];
    }
    known = known || node.op == "Shape" || node.op == "Size";
    if (!known || elements > kMostFolded) return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Tensor* constant = node.inputs[i] == kNone ? nullptr : graph_.constant(node.inputs[i]);
      if (constant != nullptr) views[i].data = data_of(*constant);
    }
    std::vector<Tensor> out;
    for (const Spec& spec : specs) {
      out.emplace_back(spec);
      call.out.push_back({spec, out.back().bytes()});
    }
    find_operator(node.op)->run(call);
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] != kNone) graph_.constants[node.outputs[i]] = std::move(out[i]);
    }
    return true;
  }

  std::vector<Spec> ask(const Call& call) {
    try {
      return infer(call);
    } catch (const NotKnown& unknown) {
      const auto behind = inputs_behind(whole_, call.node->inputs[unknown.input]);
      special_.looked_at.insert(behind.begin(), behind.end());
      throw;
    }
  }

  const Graph& whole_;
  Special& special_;
  Graph& graph_;
};

}  // namespace

Special specialise(const Graph& graph, const std::vector<Tensor>& inputs) {
  if (inputs.size() != graph.inputs.size()) {
    throw Error(str("expected ", graph.inputs.size(), " inputs, got ", inputs.size()));
  }
  std::set<int32_t> looked_at;
  while (true) {
    Special special{graph, std::vector<Spec>(graph.values.size()), looked_at};
    for (const auto& [value, tensor] : graph.constants)
      special.specs[static_cast<size_t>(value)] = tensor.spec();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int32_t value = graph.inputs[i].value;
      expect_fit(graph, graph.inputs[i], inputs[i].spec());
      special.specs[static_cast<size_t>(value)] = inputs[i].spec();
      if (looked_at.contains(value)) special.graph.constants[value] = inputs[i];
    }
    try {
      Walker(graph, special).run();
      return special;
    } catch (const NotKnown&) {
      if (special.looked_at == looked_at) throw Error("a shape depends on numbers that are computed");
      looked_at = special.looked_at;
    }
  }
}

}  // namespace hewn::flow
