#pragma once

#include <torch/nn/modules/conv.h>

#include <array>
#include <cstdint>
#include <string>

#include "hewn/nn/batch_norm.h"
#include "hewn/runtime/graph.h"

namespace hewn::nn {

/// Adds a convolution and the batch norm behind it, called names[0] and names[1], to the graph behind node
/// `in`; returns the norm's node. Throws Error for what the runtime cannot do: groups, other strides or
/// paddings in one direction than in the other.
int32_t conv_norm(runtime::Graph& graph, const std::array<std::string, 2>& names, int32_t in,
                  const torch::nn::Conv2dImpl& conv, const BatchNorm2dImpl& norm);

}  // namespace hewn::nn
