#pragma once

#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {

/// Of linear and conv2d: a linear layer is a convolution with one pixel.
int64_t product_cost(const Node& node, std::span<const Shape> in, const Shape& out);

}  // namespace hewn::runtime
