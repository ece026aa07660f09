#include "hewn/onnx/spell_out.h"

#include <cmath>
#include <numbers>

#include "hewn/core/error.h"

namespace hewn::onnx {
namespace {

/// Adds nodes of an opset in the place of one.
class Speller {
 public:
  Speller(flow::Graph& graph, const flow::Node& whole, int64_t opset, std::vector<flow::Node>& to)
      : graph_(graph), whole_(whole), opset_(opset), to_(to) {}

  int32_t in(size_t i) const { return whole_.inputs.at(i); }
  bool has(size_t i) const { return i < whole_.inputs.size() && whole_.inputs[i] != flow::kNone; }
  int32_t number(double value) {
    const int32_t made = graph_.add_value(str(whole_.name, "/number"));
    graph_.constants[made] = flow::tensor_of(static_cast<float>(value));
    return made;
  }
  int32_t add(const std::string& op, std::vector<int32_t> inputs,
              std::map<std::string, flow::Attribute> attributes = {}) {
    const int32_t made = graph_.add_value(str(whole_.name, "/", op));
    to_.push_back({op, std::move(inputs), {made}, std::move(attributes), opset_, str(whole_.name, "/", op)});
    return made;
  }
  /// The last node that was added makes what the whole made.
  void end() { to_.back().outputs = {whole_.outputs.at(0)}; }

 private:
  flow::Graph& graph_;
  const flow::Node& whole_;
  int64_t opset_;
  std::vector<flow::Node>& to_;
};

void spell_gelu(Speller& to, const flow::Node& node) {
  if (node.text("approximate", "none") != "none") {
    throw Error(str(to_string(node), ": only the exact form can be written for opsets before 20"));
  }
  const int32_t x = to.in(0);
  const int32_t erf = to.add("Erf", {to.add("Div", {x, to.number(std::numbers::sqrt2)})});
  to.add("Mul", {to.add("Mul", {x, to.add("Add", {erf, to.number(1)})}), to.number(0.5)});
}

void spell_layer_norm(Speller& to, const flow::Node& node) {
  if (node.integer("axis", -1) != -1 || node.outputs.size() != 1) {
    throw Error(
        str(to_string(node), ": only over the last dimension can it be written for opsets before 17"));
  }
  const std::map<std::string, flow::Attribute> last = {{"axes", std::vector<int64_t>{-1}}};
  const int32_t centred = to.add("Sub", {to.in(0), to.add("ReduceMean", {to.in(0)}, last)});
  const int32_t variance = to.add("ReduceMean", {to.add("Mul", {centred, centred})}, last);
  const int32_t small = to.number(static_cast<double>(node.number("epsilon", 1e-5F)));
  const int32_t root = to.add("Sqrt", {to.add("Add", {variance, small})});
  const int32_t scaled = to.add("Mul", {to.add("Div", {centred, root}), to.in(1)});
  if (to.has(2)) to.add("Add", {scaled, to.in(2)});
}

void spell_hard_swish(Speller& to, const flow::Node&) {
  const int32_t gate = to.add("HardSigmoid", {to.in(0)}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}});
  to.add("Mul", {to.in(0), gate});
}

struct Spelling {
  const char* op;
  int64_t since;  // opset
  void (*spell)(Speller& to, const flow::Node& node);
};
constexpr Spelling kSpellings[] = {{"Gelu", 20, spell_gelu},
                                   {"LayerNormalization", 17, spell_layer_norm},
                                   {"HardSwish", 14, spell_hard_swish}};

}  // namespace

bool can_be_spelt_out(const std::string& op) {
  for (const Spelling& one : kSpellings) {
    if (op == one.op) return true;
  }
  return false;
}

void spell_out(flow::Graph& graph, int64_t opset) {
  std::vector<flow::Node> nodes;
  for (const flow::Node& node : graph.nodes) {
    const Spelling* known = nullptr;
    for (const Spelling& one : kSpellings) {
      if (node.op == one.op && opset < one.since) known = &one;
    }
    if (known == nullptr) {
      nodes.push_back(node);
      continue;
    }
    Speller speller(graph, node, opset, nodes);
    known->spell(speller, node);
    speller.end();
  }
  graph.nodes = std::move(nodes);
}

}  // namespace hewn::onnx
