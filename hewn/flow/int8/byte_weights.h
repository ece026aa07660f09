#pragma once

#include "hewn/flow/plan.h"

namespace hewn::flow {

/// A node's weight, where it is one of bytes that products can multiply so: its scales are those of its
/// outputs, and groups do not cut through words.
WeightOf byte_weight_of(const Graph& graph, const Node& node);

/// The axis of a weight's outputs in its tensor.
int64_t output_axis(WeightKind kind);

/// The whole numbers of such a weight: outputs x taps x channels.
std::vector<int8_t> bytes_of(const Tensor& tensor, const WeightBytes& bytes, WeightKind kind);

/// The other way: the tensor becomes bytes times scales.
void put_bytes(const std::vector<int8_t>& values, const WeightBytes& bytes, WeightKind kind, Tensor& tensor);

/// The nearest whole numbers from -127 to 127 times scales of the outputs, in which pairs of channels sum to
/// 128 at most: the tensor becomes their products, and the scales are returned.
WeightBytes round_to_bytes(Tensor& tensor, WeightKind kind);

}  // namespace hewn::flow
