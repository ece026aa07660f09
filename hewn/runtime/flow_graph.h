#pragma once

#include <cstdint>
#include <vector>

#include "hewn/flow/graph.h"
#include "hewn/runtime/model_file.h"

namespace hewn::runtime {

/// How a network that takes the values of fields gets them: as their numbers, or as what its embeddings hold
/// for these, an input for each embedding.
enum class Values : uint8_t { kNumbers, kLookedUp };

/// The same network as a graph of general tensors, from "input" to "output"; weights know their kept blocks.
/// `input` is one sample's shape, behind the batch: 1 or 3 dimensions. Numbers of values are int64. Throws
/// Error beyond `limits`.
flow::Graph flow_graph(const ModelData& model, const std::vector<int64_t>& input,
                       Values values = Values::kNumbers, const Limits& limits = {});

}  // namespace hewn::runtime
