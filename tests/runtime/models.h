#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hewn/runtime/model_file.h"
#include "tests/support/numbers.h"

namespace hewn::runtime {

/// Repeatable weights for a graph: the same block shape and pattern for every layer.
ModelData with_weights(const Graph& graph, BlockShape block, Pattern pattern);

/// The network's outputs as its definition says, node by node on plain NCHW arrays.
std::vector<float> by_definition(const ModelData& model, const std::vector<float>& input, int64_t batch);

/// Samples that the network can take: numbers(), or numbers of values.
std::vector<float> inputs_for(const Graph& graph, int64_t batch, uint64_t stream);

/// Networks that use every op: name and graph.
struct NamedGraph {
  std::string name;
  Graph graph;
};
std::vector<NamedGraph> sample_graphs();

/// The bytes of the model file that holds `model`.
std::string bytes_of(const ModelData& model);

}  // namespace hewn::runtime
