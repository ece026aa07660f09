#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {
namespace {

Shape flatten_shape(const Node&, std::span<const Shape> in) { return {in[0].elements(), 1, 1}; }

}  // namespace

/// Channels x height x width, in this order, as one vector.
const Operator& flatten() {
  static constexpr Operator kFlatten = {.name = "flatten", .shape = flatten_shape};
  return kFlatten;
}

}  // namespace hewn::runtime
