#pragma once

#include <map>
#include <set>
#include <vector>

#include "hewn/flow/graph.h"

namespace hewn::flow {

/// A graph for inputs of known shapes: every value's shape is known, and what depends on shapes alone is
/// constant.
struct Special {
  Graph graph;
  std::vector<Spec> specs;      // of every value that is made
  std::set<int32_t> looked_at;  // inputs of the graph, by value, whose numbers decided shapes
};

/// `inputs` are those of the graph, in its order; their numbers are looked at only where shapes depend on
/// them. Throws Error where nodes do not fit together.
Special specialise(const Graph& graph, const std::vector<Tensor>& inputs);

}  // namespace hewn::flow
