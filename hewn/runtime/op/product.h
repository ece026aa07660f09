#pragma once

#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {

// What linear and conv2d share: a linear layer is a convolution with one pixel.

int64_t product_cost(const Node& node, std::span<const Shape> in, const Shape& out);

/// Groups of pixels are shared out; where there are fewer than shares, so are the outputs.
void run_product(const Work& work, int64_t part, int64_t parts);

}  // namespace hewn::runtime
