#pragma once

#include "hewn/core/json.h"
#include "hewn/runtime/graph.h"
#include "hewn/runtime/shapes.h"

namespace hewn::runtime {

// Graphs as model files hold them; docs/formats.md describes both versions.
// Read JSON is nlohmann::json: its objects are sorted, so that hostile ones with many keys parse fast.

/// Version 2. Throws Error where nodes do not fit together.
Json to_json(const Graph& graph);
/// Throws Error for whatever version 2 does not allow, and for what it reserves, by name.
Graph graph_from_json(const nlohmann::json& json, const Limits& limits = {});

/// Version 1, which is only read.
Graph graph_from_json_v1(const nlohmann::json& json);

}  // namespace hewn::runtime
