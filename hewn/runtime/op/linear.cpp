#include "hewn/core/error.h"
#include "hewn/runtime/op/product.h"

namespace hewn::runtime {
namespace {

Shape linear_shape(const Node& node, std::span<const Shape> in) {
  if (in[0].height != 1 || in[0].width != 1) {
    throw Error(str("a linear layer needs a vector, not ", to_string(in[0])));
  }
  return {node.outputs, 1, 1};
}

}  // namespace

const Operator& linear() {
  static constexpr Operator kLinear = {
      .name = "linear", .tensors = Tensors::kWeight, .shape = linear_shape, .cost = product_cost};
  return kLinear;
}

}  // namespace hewn::runtime
