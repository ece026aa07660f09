#pragma once

#include <cstdint>
#include <vector>

#include "hewn/runtime/graph.h"

namespace hewn::deploy {

/// A step of a network: a node of its graph, and what happens to the node's result in the same pass.
struct FusedStep {
  int32_t node = 0;
  std::vector<int32_t> inputs;  // earlier steps
  int32_t residual = -1;        // the earlier step whose result is added; -1: none
  bool relu = false;            // of the sum
};

/// A graph without batch norms as steps: sums and ReLUs become part of the layers before them, where nothing
/// else sees what these make.
std::vector<FusedStep> fuse(const runtime::Graph& graph);

/// How often each step's result is read.
std::vector<int32_t> count_uses(const std::vector<FusedStep>& steps);

}  // namespace hewn::deploy
