#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hewn/flow/graph.h"

namespace hewn::refit {

/// Inputs of a graph in batches: one tensor for each of its inputs, in its order.
using Batches = std::vector<std::vector<flow::Tensor>>;

/// Reads NPY files, "x.npy" for a graph with one input, "name=x.npy" each for one with several. Their first
/// dimension counts samples, of which the first `samples` are used (0: all). Throws Error or FormatError,
/// naming the file and the shape that was expected. Batches have `most` samples, or as many as the graph asks
/// for.
Batches read_calibration(const flow::Graph& graph, const std::vector<std::string>& files, int64_t samples,
                         int64_t most = 32);

}  // namespace hewn::refit
