#include "hewn/flow/evaluate.h"

#include <algorithm>

namespace hewn::flow {
namespace {

/// What folding may make of a graph, in bytes beyond what its constants take.
constexpr size_t kMostFolded = size_t{1} << 28;
/// And how long it may take: in multiply-adds, some seconds.
constexpr double kMostFoldingWork = 0x1p33;

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

/// Multiply-adds of operators that take more than a few for a number that they read or write.
double long_work(const Node& node, const std::vector<const Tensor*>& in, const Spec& out) {
  const auto elements = static_cast<double>(out.elements());
  const auto share = [](const Tensor& tensor, int64_t parts) {
    return static_cast<double>(tensor.elements()) / static_cast<double>(std::max<int64_t>(parts, 1));
  };
  if (node.op == "MatMul") return elements * static_cast<double>(in[0]->dims().back());
  if (node.op == "Gemm") return elements * share(*in[0], out.dims[0]);
  if (node.op == "Conv") return elements * share(*in[1], in[1]->dims()[0]);
  if (node.op == "MaxPool" || node.op == "AveragePool") {
    const Dims& dims = in[0]->dims();
    return elements * share(*in[0], dims[0] * dims[1]);
  }
  return elements;
}

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
  double work = 0;
  std::vector<Node> left;
  for (Node& node : graph.nodes) {
    std::vector<const Tensor*> in;
    const bool constant = std::all_of(node.inputs.begin(), node.inputs.end(), [&](int32_t value) {
      in.push_back(value == kNone ? nullptr : graph.constant(value));
      return value == kNone || in.back() != nullptr;
    });
    double more_work = 0;
    if (constant) {
      Question question(node, in);
      const std::vector<Spec> specs = infer(question.call);
      for (const Spec& spec : specs) folded += static_cast<size_t>(spec.elements()) * size_of(spec.type);
      if (!specs.empty()) more_work = long_work(node, in, specs[0]);
    }
    if (!constant || folded > kMostFolded || work + more_work > kMostFoldingWork) {
      left.push_back(std::move(node));
      continue;
    }
    work += more_work;
    std::vector<Tensor> out = evaluate(node, in);
    for (size_t i = 0; i < out.size(); ++i) {
      if (node.outputs[i] != kNone) graph.constants[node.outputs[i]] = std::move(out[i]);
    }
  }
  graph.nodes = std::move(left);
  remove_unused(graph);
}

}  // namespace hewn::flow
