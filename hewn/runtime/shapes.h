#pragma once

#include <cstdint>
#include <vector>

#include "hewn/runtime/graph.h"

namespace hewn::runtime {

/// What a model may ask of the machine that runs it. A file within these can be loaded and run; one beyond
/// them is refused.
struct Limits {
  int64_t value_floats = int64_t{1} << 22;       // of one activation of one sample
  int64_t activation_floats = int64_t{1} << 24;  // of all buffers of one sample together
  int64_t products = int64_t{1} << 38;           // multiply-adds and pooling steps of one sample
  int64_t table_floats = int64_t{1} << 33;       // of all embeddings together
};

/// The shape of every node's result. Throws Error where nodes do not fit together or go beyond `limits`.
std::vector<Shape> infer_shapes(const Graph& graph, const Limits& limits);

/// Rows of a weight seen as a matrix: a linear layer's inputs, a convolution's (tap y, tap x, channel).
int64_t weight_rows(const Node& node, const Shape& input);

/// Values that a field may take: their numbers are exact as floats.
constexpr int64_t kMaxVocabulary = int64_t{1} << 24;
/// Rows of an embedding's table: the values of all fields.
int64_t table_rows(const Node& node);

/// a * b, or a number that is too large for every limit where that overflows. Neither is negative.
int64_t saturating_product(int64_t a, int64_t b);

}  // namespace hewn::runtime
