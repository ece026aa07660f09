#pragma once

#include <string>
#include <vector>

#include "hewn/flow/plan.h"

namespace hewn::flow {

/// What became of a layer.
struct HalvedLayer {
  std::string name;
  bool halves = false;
  std::string why;  // it stays in 32 bits
};

/// Simplifies the graph, and says in it that its products hold what they read as bf16: weights become the
/// nearest, and so do activations on their way from one product to the next. Sums are of 32 bits. Layers in
/// `keep` stay as they are, by name. Throws Error where weights are too large, or a name is not there.
std::vector<HalvedLayer> to_bf16(Graph& graph, const std::vector<std::string>& keep);

/// A node's weight, where it is one of bf16 whose products can be computed so: groups do not cut through
/// pairs of channels.
WeightOf half_weight_of(const Graph& graph, const Node& node);

/// The instructions that products of bf16 run on; empty where there are none on this machine: they then run
/// in 32 bits, with the same weights.
std::string bf16_machine();

}  // namespace hewn::flow
