#include "hewn/runtime/op/product.h"
#include "hewn/runtime/op/window.h"

namespace hewn::runtime {
namespace {

Shape conv2d_shape(const Node& node, std::span<const Shape> in) {
  return slide(node.window, in[0], node.outputs);
}

kernels::Packed pack_conv2d(const kernels::BsrPattern& pattern, const Node& node,
                            const kernels::ImageShape& in) {
  return kernels::Packed::conv(pattern, node.window, in);
}

}  // namespace

const Operator& conv2d() {
  static constexpr Operator kConv2d = {.name = "conv2d",
                                       .tensors = Tensors::kWeight,
                                       .shape = conv2d_shape,
                                       .cost = product_cost,
                                       .read = read_window,
                                       .write = write_window,
                                       .pack = pack_conv2d,
                                       .run = run_product,
                                       .takes_add = true,
                                       .takes_relu = true,
                                       .reads_border = true,
                                       .writes_over_addend = true};
  return kConv2d;
}

}  // namespace hewn::runtime
