#pragma once

#include "hewn/flow/graph.h"

namespace hewn::flow {

/// Products of matrices that are written as Einsum become Transpose and MatMul, which plans know.
void spell_einsums(Graph& graph);

}  // namespace hewn::flow
