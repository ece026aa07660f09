#pragma once

#include "hewn/flow/graph.h"

namespace hewn::flow {

/// Writes a graph in fewer nodes that give the same numbers up to rounding: constants folded, identities left
/// out, batch normalisation put into the convolution before it, and what frameworks spell out in a dozen
/// nodes (layer normalisation, GELU, hard swish) named.
void simplify(Graph& graph);

}  // namespace hewn::flow
