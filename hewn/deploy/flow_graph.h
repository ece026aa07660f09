#pragma once

#include <cstdint>
#include <vector>

#include "hewn/flow/graph.h"
#include "hewn/runtime/model_file.h"

namespace hewn::deploy {

/// The same network as a graph of general tensors, from "input" to "output": whole weights, with zeros for
/// dropped blocks. `input` is one sample's shape, behind the batch. A model of clicks takes the numbers of
/// the fields' values as int64.
flow::Graph flow_graph(const runtime::ModelData& model, const std::vector<int64_t>& input);

}  // namespace hewn::deploy
