#include "hewn/deploy/gpu/fuse.h"

namespace hewn::deploy {
namespace {

using runtime::Node;
using runtime::Op;

class Fuser {
 public:
  explicit Fuser(const runtime::Graph& graph) : graph_(graph), uses_(runtime::count_uses(graph)) {}

  std::vector<FusedStep> run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (node.op == Op::kRelu && take_relu(node.inputs[0])) continue;
      if (node.op == Op::kAdd && take_sum(node.inputs[0], node.inputs[1])) continue;
      FusedStep step{static_cast<int32_t>(i), {}};
      for (const int32_t in : node.inputs) step.inputs.push_back(step_of(in));
      steps_.push_back(std::move(step));
      place_.push_back(static_cast<int32_t>(steps_.size()) - 1);
    }
    return std::move(steps_);
  }

 private:
  int32_t step_of(int32_t node) const { return place_[static_cast<size_t>(node)]; }
  FusedStep& made_by(int32_t step) { return steps_[static_cast<size_t>(step)]; }
  const Node& node_of(const FusedStep& step) const { return graph_.nodes[static_cast<size_t>(step.node)]; }
  bool seen_once(int32_t node) const { return uses_[static_cast<size_t>(node)] == 1; }

  /// Whether the ReLU of a node's result became part of its step.
  bool take_relu(int32_t node) {
    FusedStep& step = made_by(step_of(node));
    const bool able = has_weight(node_of(step)) || node_of(step).op == Op::kAdd;
    if (!able || !seen_once(node) || step.relu) return false;
    step.relu = true;
    place_.push_back(step_of(node));
    return true;
  }

  /// Whether the sum became part of the step of one of its operands: of the later one, since the other is
  /// there by then.
  bool take_sum(int32_t a, int32_t b) {
    if (step_of(a) == step_of(b)) return false;
    if (step_of(a) < step_of(b)) std::swap(a, b);
    FusedStep& step = made_by(step_of(a));
    if (!has_weight(node_of(step)) || !seen_once(a) || step.relu || step.residual >= 0) return false;
    step.residual = step_of(b);
    place_.push_back(step_of(a));
    return true;
  }

  const runtime::Graph& graph_;
  std::vector<int32_t> uses_;
  std::vector<FusedStep> steps_;
  std::vector<int32_t> place_;  // of each node so far: the step that makes its result
};

}  // namespace

std::vector<FusedStep> fuse(const runtime::Graph& graph) { return Fuser(graph).run(); }

std::vector<int32_t> count_uses(const std::vector<FusedStep>& steps) {
  std::vector<int32_t> uses(steps.size());
  for (const FusedStep& step : steps) {
    for (const int32_t in : step.inputs) ++uses[static_cast<size_t>(in)];
    if (step.residual >= 0) ++uses[static_cast<size_t>(step.residual)];
  }
  return uses;
}

}  // namespace hewn::deploy
