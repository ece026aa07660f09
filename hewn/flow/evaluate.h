#pragma once

#include <map>
#include <vector>

#include "hewn/flow/graph.h"
#include "hewn/flow/op/operator.h"

namespace hewn::flow {

/// What the node's outputs will be. Throws Error where the node cannot be, NotKnown (see there) where numbers
/// that it needs have no data.
std::vector<Spec> infer(const Call& call);

/// Does one node on tensors, and returns its outputs.
std::vector<Tensor> evaluate(const Node& node, const std::vector<const Tensor*>& inputs);

/// The whole graph, node by node on row-major tensors: what every faster way must agree with. `inputs` are
/// those of the graph, in its order.
std::vector<Tensor> evaluate(const Graph& graph, const std::vector<Tensor>& inputs);

/// Replaces nodes whose inputs are all constant by what comes out of them.
void fold_constants(Graph& graph);

}  // namespace hewn::flow
