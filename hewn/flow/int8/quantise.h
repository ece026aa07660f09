#pragma once

#include <string>
#include <vector>

#include "hewn/flow/graph.h"

namespace hewn::flow {

/// Samples of a batch that is observed: all activations of it are in memory at once.
constexpr int64_t kObservedAtOnce = 4;

/// How products of a graph are brought to 8 bits.
struct QuantiseOptions {
  /// Which of the numbers that calibration saw the bytes reach: all of them (100), or all but as many at each
  /// end.
  double percentile = 99.99;
  /// Layers that stay as they are, by name.
  std::vector<std::string> keep;
  int threads = 1;
};

/// What became of a layer.
struct QuantisedLayer {
  std::string name;
  bool bytes = false;
  std::string why;  // it stays in 32 bits
};

/// Simplifies the graph, and says in it how its products may hold what they read: weights as signed bytes,
/// with a scale for each output, and activations as bytes with one scale for each tensor, found on
/// `batches`: one tensor for each input of the graph, in its order. Weights become what their bytes stand
/// for. Throws Error where there are no batches, or they do not fit.
std::vector<QuantisedLayer> quantise(Graph& graph, const std::vector<std::vector<Tensor>>& batches,
                                     const QuantiseOptions& options);

/// The layers of a graph with weights, and which of them run in 8 bits.
std::vector<QuantisedLayer> layers_of(const Graph& graph);

}  // namespace hewn::flow
