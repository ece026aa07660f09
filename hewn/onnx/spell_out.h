#pragma once

#include "hewn/flow/graph.h"

namespace hewn::onnx {

/// Replaces nodes that are no operators of that opset yet by several that are: Gelu (20),
/// LayerNormalization (17) and HardSwish (14).
void spell_out(flow::Graph& graph, int64_t opset);

/// Whether spell_out would replace nodes of this operator, for an opset that is old enough.
bool can_be_spelt_out(const std::string& op);

}  // namespace hewn::onnx
