#pragma once

#include <map>
#include <vector>

#include "hewn/flow/graph.h"

namespace hewn::flow {

/// The numbers of a value that count.
struct Extent {
  float least = 0;  // at most 0
  float most = 0;   // at least 0
};

/// Runs the graph on batches of inputs and says what the values reach there: all numbers with `percentile`
/// 100, else all but so many of a hundred at each end.
std::map<int32_t, Extent> observe(const Graph& graph, const std::vector<int32_t>& values,
                                  const std::vector<std::vector<Tensor>>& batches, double percentile,
                                  int threads);

}  // namespace hewn::flow
