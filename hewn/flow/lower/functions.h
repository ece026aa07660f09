#pragma once

#include <optional>

#include "hewn/flow/builder.h"
#include "hewn/kernels/vector_math.h"

namespace hewn::flow {

/// The function of one number that a node applies to its first input, if it is one of the fast ones.
std::optional<kernels::Activation> function_of(const Builder& builder, const Node& node);

/// x sigmoid(x) is spelt with two nodes: the Mul that ends it where nobody else reads the sigmoid, or kNone.
int32_t silu_end(const Builder& builder, int32_t x);
kernels::Activation silu();

}  // namespace hewn::flow
