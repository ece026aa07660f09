#include "hewn/runtime/op/product.h"
#include "hewn/runtime/op/window.h"

namespace hewn::runtime {
namespace {

Shape conv2d_shape(const Node& node, std::span<const Shape> in) {
  return slide(node.window, in[0], node.outputs);
}

}  // namespace

const Operator& conv2d() {
  static constexpr Operator kConv2d = {.name = "conv2d",
                                       .tensors = Tensors::kWeight,
                                       .shape = conv2d_shape,
                                       .cost = product_cost,
                                       .read = read_window,
                                       .write = write_window};
  return kConv2d;
}

}  // namespace hewn::runtime
