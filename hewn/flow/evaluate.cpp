#include "hewn/flow/evaluate.h"

#include <algorithm>

namespace hewn::flow {
namespace {

/// What folding may make of a graph, in bytes beyond what its constants take.
constexpr size_t kMostFolded = size_t{1} << 28;

/// A node and tensors as a call. Inputs are only read.
struct Question {
  Question(const Node& node, const std::vector<const Tensor*>& inputs) : views(inputs.size()) {
    call.node = &node;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != nullptr) views[i] = {inputs[i]->spec(), const_cast<std::byte*>(inputs[i]->bytes())};
      call.in.push_back(inputs[i] == nullptr ? nullptr : &views[i]);
    }
  }

  std::vector<View> views;
  Call call;
};

}  // namespace

std::vector<Spec> infer(const Call& call) {
  const Operator* op = find_operator(call.node->op);
  if (op == nullptr) throw call.bad("is not supported");
  if (call.in.size() < op->least_inputs || call.in.size() > op->most_inputs) {
    throw call.bad(
        str("has ", call.in.size(), " inputs, expected ", op->least_inputs, " to ", op->most_inputs));
  }
  for (size_t i = 0; i < op->least_inputs; ++i) call.at(i);
  std::vector<Spec> specs = op->infer(call);
  if (specs.size() < call.node->outputs.size()) throw call.bad("has too many outputs");
  specs.resize(call.node->outputs.size());
  for (const Spec& spec : specs) spec.elements();  // throws where there are too many
  return specs;
}

std::vector<Tensor> evaluate(const Node& node, const std::vector<const Tensor*>& inputs) {
  Question question(node, inputs);
  Call& call = question.call;
  std::vector<Tensor> outputs;
  for (const Spec& spec : infer(call)) {
    outputs.emplace_back(spec);
    call.out.push_back({spec, outputs.back().bytes()});
  }
  find_operator(node.op)->run(call);
  return outputs;
}

std::vector<Tensor> evaluate(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::map<int32_t, Tensor> known = graph.constants;
  for (size_t i = 0; i < graph.inputs.size(); ++i) known[graph.inputs[i].value] = inputs.at(i);
  for (const Node& node : graph.nodes) {
    std::vector<const Tensor*> in;
    for (const int32_t value : node.inputs) in.push_back(value == kNone ? nullptr : &known.at(value));
    std::vector<Tensor> out = evaluate(node, in);
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] != kNone) known[node.outputs[i]] = std::move(out[i]);
    }
  }
  std::vector<Tensor> outputs;
  for (const Port& port : graph.outputs) outputs.push_back(known.at(port.value));
  return outputs;
}

void fold_constants(Graph& graph) {
  size_t folded = 0;
  std::vector<Node> left;
  for (Node& node : graph.nodes) {
    std::vector<const Tensor*> in;
    const bool constant = std::all_of(node.inputs.begin(), node.inputs.end(), [&](int32_t value) {
      in.push_back(value == kNone ? nullptr : graph.constant(value));
      return value == kNone || in.back() != nullptr;
    });
    if (constant) {
      Question question(node, in);
      const std::vector<Spec> specs = infer(question.call);
      for (const Spec& spec : specs) folded += static_cast<size_t>(spec.elements()) * size_of(spec.type);
    }
    if (!constant || folded > kMostFolded) {
      left.push_back(std::move(node));
      continue;
    }
    std::vector<Tensor> out = evaluate(node, in);
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] != kNone) graph.constants[node.outputs[i]] = std::move(out[i]);
    }
  }
  graph.nodes = std::move(left);
  remove_unused(graph);
}

}  // namespace hewn::flow
