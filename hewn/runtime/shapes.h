#pragma once

#include <cstdint>
#include <vector>

#include "hewn/runtime/graph.h"

namespace hewn::runtime {

/// What a model may ask of the machine that runs it. A file within these can be loaded and run; one beyond
/// them is refused before anything is allocated.
struct Limits {
  int64_t value_floats = int64_t{1} << 22;       // of one activation of one sample, with its border
  int64_t activation_floats = int64_t{1} << 24;  // of all buffers of one sample together
  int64_t products = int64_t{1} << 38;           // multiply-adds and pooling steps of one sample
};

/// The shape of every node's result. Throws Error where nodes do not fit together or go beyond `limits`.
std::vector<Shape> infer_shapes(const Graph& graph, const Limits& limits);

/// Rows of a weight seen as a matrix: a linear layer's inputs, a convolution's (tap y, tap x, channel).
int64_t weight_rows(const Node& node, const Shape& input);

/// An image with a border fits the limits of one activation; throws Error where it does not.
void check_size(const Shape& shape, int64_t border, const Limits& limits);

/// a * b, or a number that is too large for every limit where that overflows. Neither is negative.
int64_t saturating_product(int64_t a, int64_t b);

}  // namespace hewn::runtime
