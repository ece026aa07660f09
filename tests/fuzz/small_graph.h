#pragma once

#include <map>
#include <vector>

#include "hewn/flow/evaluate.h"

namespace fuzz {

using hewn::flow::Graph;
using hewn::flow::Tensor;

// So that a run that is allowed takes milliseconds, with sanitizers.
constexpr int64_t kMostElements = 1 << 12;

/// Small numbers of both signs: some of them are sizes, axes and indices. False where there are too many.
inline bool make_inputs(const Graph& graph, std::vector<Tensor>& inputs) {
  for (const hewn::flow::Port& port : graph.inputs) {
    hewn::flow::Spec spec = port.spec;
    for (int64_t& dim : spec.dims) dim = dim < 0 ? 2 : dim;
    if (spec.elements() > kMostElements) return false;
    Tensor tensor(spec);
    hewn::flow::with_type(spec.type, [&](auto element) {
      int next = 0;
      for (auto& x : tensor.values<decltype(element)>()) x = static_cast<decltype(element)>(next++ % 5 - 1);
    });
    inputs.push_back(tensor);
  }
  return true;
}

/// Whether all that comes out of the graph's nodes is small; runs them.
inline bool stays_small(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::map<int32_t, Tensor> known = graph.constants;
  for (size_t i = 0; i < inputs.size(); ++i) known[graph.inputs[i].value] = inputs[i];
  for (const hewn::flow::Node& node : graph.nodes) {
    std::vector<hewn::flow::View> views(node.inputs.size());
    std::vector<const Tensor*> in(node.inputs.size(), nullptr);
    hewn::flow::Call call{.node = &node, .in = {}, .out = {}};
    for (size_t i = 0; i < in.size(); ++i) {
      call.in.push_back(nullptr);
      if (node.inputs[i] == hewn::flow::kNone) continue;
      Tensor& tensor = known.at(node.inputs[i]);
      in[i] = &tensor;
      views[i] = {tensor.spec(), tensor.bytes()};
      call.in[i] = &views[i];
    }
    for (const hewn::flow::Spec& spec : hewn::flow::infer(call)) {
      if (spec.elements() > kMostElements || spec.dims.size() > 16) return false;
    }
    std::vector<Tensor> out = hewn::flow::evaluate(node, in);
    for (size_t i = 0; i < out.size(); ++i) known[node.outputs[i]] = out[i];
  }
  return true;
}

}  // namespace fuzz
