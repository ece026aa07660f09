#pragma once

#include "hewn/core/json.h"
#include "hewn/flow/graph.h"

namespace hewn::flow {

/// A graph without the numbers of its constants.
Json to_json(const Graph& graph);
/// Checks names, numbers and order; throws Error. Constants are zeros of one element until they are read.
Graph graph_from_json(const nlohmann::json& json);

}  // namespace hewn::flow
