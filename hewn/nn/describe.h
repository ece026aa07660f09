#pragma once

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <array>
#include <cstdint>
#include <string>

#include "hewn/flow/composer.h"
#include "hewn/nn/batch_norm.h"
#include "hewn/runtime/graph.h"

namespace hewn::nn {

/// Adds a convolution and the batch norm behind it, called names[0] and names[1], to the graph behind node
/// `in`; returns the norm's node. Throws Error for what the runtime cannot do: groups, other strides or
/// paddings in one direction than in the other.
int32_t conv_norm(runtime::Graph& graph, const std::array<std::string, 2>& names, int32_t in,
                  const torch::nn::Conv2dImpl& conv, const BatchNorm2dImpl& norm);

/// Its numbers now, as 32-bit floats.
flow::Tensor flow_tensor(const at::Tensor& tensor);

/// Adds a Linear layer called `name` over the last dimension of `in`; returns what it makes.
int32_t describe_linear(flow::Composer& to, const std::string& name, int32_t in,
                        const torch::nn::LinearImpl& linear);

}  // namespace hewn::nn
