#pragma once

#include "hewn/flow/builder.h"
#include "hewn/kernels/vector_math.h"

namespace hewn::flow {

/// What a product takes along: the add and the activation behind it, where nobody else reads what is between.
struct Fused {
  int32_t value;        // that the step makes
  int32_t add = kNone;  // slot of what is added
  bool over = false;    // nobody needs that slot any more
  bool relu = false;
  kernels::Activation then{};  // where it is not relu
};
/// Nodes that are done already are left to those who took them.
Fused take_along(Builder& builder, int32_t node, int64_t axis);
/// The slot of what the step makes: that of what is added, where nobody needs it any more. Half the memory is
/// touched then.
int32_t result_rows(Builder& builder, const Fused& fused, int64_t axis);

/// Tokens in planes whose numbers keep their order and whose channels stay the last dimension: nothing moves.
bool keeps_tokens(const Builder& builder, const Node& node);

}  // namespace hewn::flow
