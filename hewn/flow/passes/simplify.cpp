#include "hewn/flow/passes/simplify.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "hewn/flow/evaluate.h"
#include "hewn/flow/passes/einsum.h"

namespace hewn::flow {
namespace {

/// A graph with its readers and makers, to look for patterns in.
class Finder {
 public:
  explicit Finder(Graph& graph) : graph_(graph), uses_(count_uses(graph)), made_(makers(graph)) {}

  /// The node that makes a value, if its operator is this one.
  const Node* maker(int32_t value, const char* op) const {
    const int32_t number = value == kNone ? kNone : made_[static_cast<size_t>(value)];
    if (number == kNone) return nullptr;
    const Node& node = graph_.nodes[static_cast<size_t>(number)];
    return node.op == op ? &node : nullptr;
  }
  int32_t uses(int32_t value) const { return uses_[static_cast<size_t>(value)]; }
  /// A constant of one number that is nearly this.
  bool is(int32_t value, float number) const {
    const Tensor* tensor = graph_.constant(value);
    return tensor != nullptr && tensor->type() == Type::kFloat && tensor->elements() == 1 &&
           std::abs(tensor->values<float>()[0] - number) <= 1e-5F * std::abs(number);
  }
  const Tensor* number(int32_t value) const {
    const Tensor* tensor = graph_.constant(value);
    return tensor != nullptr && tensor->type() == Type::kFloat && tensor->elements() == 1 ? tensor : nullptr;
  }
  /// The other input of a node of two, if one of them is `value`.
  static int32_t other(const Node& node, int32_t value) {
    if (node.inputs.size() != 2) return kNone;
    if (node.inputs[0] == value) return node.inputs[1];
    return node.inputs[1] == value ? node.inputs[0] : kNone;
  }
  const Graph& graph() const { return graph_; }

 private:
  Graph& graph_;
  std::vector<int32_t> uses_;
  std::vector<int32_t> made_;
};

bool over_last_axis(const Finder& finder, const Node& mean) {
  std::vector<int64_t> axes = mean.integers("axes");
  if (mean.inputs.size() > 1 && mean.inputs[1] != kNone) {
    const Tensor* tensor = finder.graph().constant(mean.inputs[1]);
    if (tensor == nullptr || tensor->type() != Type::kInt) return false;
    axes.assign(tensor->values<int64_t>().begin(), tensor->values<int64_t>().end());
  }
  return axes == std::vector<int64_t>{-1} && mean.integer("keepdims", 1) == 1;
}

/// (x - mean) / sqrt(mean of squares + epsilon) * scale + shift, seen from the last add.
bool name_layer_norm(const Finder& finder, Node& node) {
  if (node.op != "Add" || node.inputs.size() != 2) return false;
  for (const int32_t shift : node.inputs) {
    const Tensor* shifts = finder.graph().constant(shift);
    const Node* scaled = finder.maker(Finder::other(node, shift), "Mul");
    if (shifts == nullptr || shifts->dims().size() != 1 || scaled == nullptr) continue;
    for (const int32_t scale : scaled->inputs) {
      const Tensor* scales = finder.graph().constant(scale);
      const Node* ratio = finder.maker(Finder::other(*scaled, scale), "Div");
      if (scales == nullptr || scales->spec() != shifts->spec() || ratio == nullptr) continue;
      const Node* centred = finder.maker(ratio->inputs[0], "Sub");
      const Node* root = finder.maker(ratio->inputs[1], "Sqrt");
      const Node* sum = root == nullptr ? nullptr : finder.maker(root->inputs[0], "Add");
      if (centred == nullptr || sum == nullptr || sum->inputs.size() != 2) continue;
      const Node* mean = finder.maker(centred->inputs[1], "ReduceMean");
      if (mean == nullptr || mean->inputs[0] != centred->inputs[0] || !over_last_axis(finder, *mean))
        continue;
      for (const int32_t epsilon : sum->inputs) {
        const Tensor* small = finder.number(epsilon);
        const Node* variance = finder.maker(Finder::other(*sum, epsilon), "ReduceMean");
        if (small == nullptr || variance == nullptr || !over_last_axis(finder, *variance)) continue;
        const Node* square = finder.maker(variance->inputs[0], "Pow");
        const Node* times = finder.maker(variance->inputs[0], "Mul");
        const bool squared =
            (square != nullptr && finder.is(square->inputs[1], 2) && square->inputs[0] == ratio->inputs[0]) ||
            (times != nullptr && times->inputs[0] == ratio->inputs[0] &&
             times->inputs[1] == ratio->inputs[0]);
        if (!squared) continue;
        const float value = small->values<float>()[0];
        node.op = "LayerNormalization";
        node.inputs = {mean->inputs[0], scale, shift};
        node.attributes = {{"axis", int64_t{-1}}, {"epsilon", value}};
        return true;
      }
    }
  }
  return false;
}

/// x * 0.5 * (1 + erf(x / sqrt 2)), in the orders in which frameworks write it, seen from the last product.
bool name_gelu(const Finder& finder, Node& node) {
  if (node.op != "Mul" || node.inputs.size() != 2) return false;
  // The three factors: of a product of a product.
  const auto match = [&](int32_t x, int32_t half, int32_t sum) {
    const Node* add = finder.maker(sum, "Add");
    if (add == nullptr || !finder.is(half, 0.5F) || add->inputs.size() != 2) return false;
    for (const int32_t one : add->inputs) {
      const Node* erf = finder.maker(Finder::other(*add, one), "Erf");
      if (!finder.is(one, 1) || erf == nullptr) continue;
      const Node* div = finder.maker(erf->inputs[0], "Div");
      if (div != nullptr && div->inputs[0] == x && finder.is(div->inputs[1], 1.41421356F)) return true;
      const Node* mul = finder.maker(erf->inputs[0], "Mul");
      if (mul != nullptr && finder.is(Finder::other(*mul, x), 0.70710678F)) return true;
    }
    return false;
  };
  for (size_t side = 0; side < 2; ++side) {
    const int32_t lone = node.inputs[side];
    const Node* inner = finder.maker(node.inputs[1 - side], "Mul");
    if (inner == nullptr || inner->inputs.size() != 2) continue;
    std::vector<int32_t> factors = {lone, inner->inputs[0], inner->inputs[1]};
    std::sort(factors.begin(), factors.end());
    do {
      if (!match(factors[0], factors[1], factors[2])) continue;
      node.op = "Gelu";
      node.inputs = {factors[0]};
      node.attributes.clear();
      node.opset = 20;
      return true;
    } while (std::next_permutation(factors.begin(), factors.end()));
  }
  return false;
}

/// x * hard_sigmoid(x), or x * clip(x + 3, 0, 6) / 6.
bool name_hard_swish(const Finder& finder, Node& node) {
  if (node.op != "Mul" || node.inputs.size() != 2) return false;
  for (const int32_t x : node.inputs) {
    const Node* gate = finder.maker(Finder::other(node, x), "HardSigmoid");
    if (gate == nullptr || gate->inputs[0] != x) continue;
    const float alpha = gate->number("alpha", 0.2F);
    if (std::abs(alpha - 1.0F / 6) > 1e-4F || std::abs(gate->number("beta", 0.5F) - 0.5F) > 1e-6F) continue;
    node.op = "HardSwish";
    node.inputs = {x};
    node.attributes.clear();
    return true;
  }
  return false;
}

/// y = (conv(x) - mean) * factor + shift as a convolution with other weights.
bool fold_batch_norm(const Finder& finder, Graph& graph, Node& node) {
  if (node.op != "BatchNormalization" || node.integer("training_mode", 0) != 0) return false;
  const Node* conv = finder.maker(node.inputs[0], "Conv");
  if (conv == nullptr || finder.uses(node.inputs[0]) != 1) return false;
  if (conv->inputs.size() < 2) return false;
  const Tensor* weight = graph.constant(conv->inputs[1]);
  const bool biased = conv->inputs.size() > 2 && conv->inputs[2] != kNone;
  const Tensor* bias = biased ? graph.constant(conv->inputs[2]) : nullptr;
  if (weight == nullptr || (biased && bias == nullptr) || weight->elements() == 0) return false;
  if (weight->type() != Type::kFloat || weight->dims().empty()) return false;
  const int64_t outputs = weight->dims()[0];
  if (biased && (bias->type() != Type::kFloat || bias->elements() != outputs)) return false;
  std::vector<const Tensor*> numbers;
  for (size_t i = 1; i < 5; ++i) {
    numbers.push_back(i < node.inputs.size() && node.inputs[i] != kNone ? graph.constant(node.inputs[i])
                                                                        : nullptr);
    if (numbers.back() == nullptr || numbers.back()->type() != Type::kFloat ||
        numbers.back()->elements() != outputs)
      return false;
  }
  Tensor scaled(weight->spec());
  Tensor shifted(Spec{Type::kFloat, {outputs}});
  const int64_t inputs = weight->elements() / outputs;
  for (int64_t j = 0; j < outputs; ++j) {
    const auto of = [&](size_t i) { return numbers[i]->values<float>()[static_cast<size_t>(j)]; };
    const float factor = of(0) / std::sqrt(of(3) + node.number("epsilon", 1e-5F));
    const float before = bias == nullptr ? 0 : bias->values<float>()[static_cast<size_t>(j)];
    shifted.values<float>()[static_cast<size_t>(j)] = (before - of(2)) * factor + of(1);
    for (int64_t i = j * inputs; i < (j + 1) * inputs; ++i) {
      scaled.values<float>()[static_cast<size_t>(i)] =
          weight->values<float>()[static_cast<size_t>(i)] * factor;
    }
  }
  Node merged = *conv;
  merged.outputs = {node.outputs[0]};
  const int32_t new_weight = graph.add_value(graph.name(conv->inputs[1]));
  const int32_t new_bias = graph.add_value(graph.name(node.inputs[2]));
  graph.constants[new_weight] = std::move(scaled);
  graph.constants[new_bias] = std::move(shifted);
  merged.inputs = {conv->inputs[0], new_weight, new_bias};
  node = std::move(merged);
  return true;
}

/// Readers of what an identity makes read what it is made from.
void skip_identities(Graph& graph) {
  std::map<int32_t, int32_t> same;
  const std::vector<int32_t> uses = count_uses(graph);
  for (Node& node : graph.nodes) {
    for (int32_t& value : node.inputs) {
      const auto found = same.find(value);
      if (found != same.end()) value = found->second;
    }
    const bool mask =
        node.outputs.size() > 1 && node.outputs[1] != kNone && uses[static_cast<size_t>(node.outputs[1])] > 0;
    // Dropout is for training; a graph that was written then still says by how much.
    const Tensor* ratio =
        node.inputs.size() > 1 && node.inputs[1] != kNone ? graph.constant(node.inputs[1]) : nullptr;
    const bool nothing = ratio != nullptr && ratio->type() == Type::kFloat && ratio->elements() == 1 &&
                         ratio->values<float>()[0] == 0;
    const bool identity =
        node.op == "Identity" || (node.op == "Dropout" && !mask && (node.inputs.size() < 3 || nothing));
    if (identity && !node.inputs.empty() && !node.outputs.empty() && node.outputs[0] != kNone)
      same[node.outputs[0]] = node.inputs[0];
  }
  // Outputs keep their names, so the node that makes one stays.
  remove_unused(graph);
}

}  // namespace

void simplify(Graph& graph) {
  // A node is known by its first output: one that nobody wants (MaxPool's, for its indices) is a value too.
  for (Node& node : graph.nodes) {
    if (!node.outputs.empty() && node.outputs[0] == kNone) node.outputs[0] = graph.add_value("");
  }
  skip_identities(graph);
  spell_einsums(graph);
  fold_constants(graph);
  {
    const Finder finder(graph);
    for (Node& node : graph.nodes) fold_batch_norm(finder, graph, node);
    remove_unused(graph);
  }
  {
    // Patterns are looked for in the graph as it was: each is seen from its last node.
    std::vector<Node> named = graph.nodes;
    const Finder finder(graph);
    for (Node& node : named) {
      name_layer_norm(finder, node) || name_gelu(finder, node) || name_hard_swish(finder, node);
    }
    graph.nodes = std::move(named);
  }
  remove_unused(graph);
}

}  // namespace hewn::flow
