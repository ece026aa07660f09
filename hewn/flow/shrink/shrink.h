#pragma once

#include <string>
#include <vector>

#include "hewn/flow/graph.h"

namespace hewn::flow {

/// What a layer lost. Both lists grow.
struct LayerCut {
  std::string layer;
  std::vector<int64_t> outputs;  // that are gone, by their numbers before
  std::vector<int64_t> inputs;   // likewise
};

struct Shrunk {
  std::vector<LayerCut> layers;  // that lost something
  int64_t units = 0;             // outputs of layers that are gone
  int64_t weights = 0;           // numbers of weights that are gone, zeros among them
};

/// Leaves out units and channels that no output depends on: those that nothing reads, and those that are the
/// same number for all inputs, which goes into the bias of who reads them where that is exact. They go from
/// all layers that share them, in aligned runs of `unit`, so that blocks of zeros stay blocks; every layer
/// keeps a run. Outputs stay as they were, up to rounding.
Shrunk shrink(Graph& graph, int64_t unit);

}  // namespace hewn::flow
