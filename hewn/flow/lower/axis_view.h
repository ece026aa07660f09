#pragma once

#include <optional>
#include <vector>

#include "hewn/flow/builder.h"

namespace hewn::flow {

/// Indices that walk along an axis of another value, `step` at a time.
struct Factor {
  int64_t size = 1;
  int64_t axis = 0;
  int64_t step = 1;
};

/// Where the numbers of a value are in another one, the source, out of which nodes that only move numbers
/// make it. A dimension's index is split among its factors, the last one running fastest; dimensions of one
/// have none.
struct AxisView {
  int32_t source = kNone;
  std::vector<int64_t> first;  // where in the source the first number is
  std::vector<std::vector<Factor>> dims;
};

AxisView view_of_itself(const Builder& builder, int32_t value);
/// The view of a node's output, where it is given that of the first input; nothing where the node does more
/// than move numbers, or in another way.
std::optional<AxisView> view_through(const Builder& builder, const Node& node, int32_t output,
                                     const AxisView& input);
/// As far up as nodes only move numbers. Where `scale` is given they may multiply and divide by constants
/// too, which it takes along.
AxisView view_up(const Builder& builder, int32_t value, float* scale);

/// The constant number that a Mul or Div multiplies `input` by, if it does just that.
std::optional<float> factor_of(const Builder& builder, const Node& node, int32_t& input);

}  // namespace hewn::flow
