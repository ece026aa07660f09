#pragma once

#include <string>

#include "hewn/flow/graph.h"

namespace hewn::bench {

/// resnet50, resnet18 (224x224) or mlp (784-1024-1024-10) with random weights; of every weight with at least
/// 100 blocks of 16 only the share `density` is not zero.
flow::Graph network_named(const std::string& name, double density);

/// Noise of the network's input shape.
flow::Tensor inputs_for(const flow::Graph& graph, int64_t batch, uint32_t seed);

}  // namespace hewn::bench
