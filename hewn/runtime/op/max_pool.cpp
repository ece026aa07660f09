#include "hewn/core/error.h"
#include "hewn/runtime/op/window.h"
#include "hewn/runtime/shapes.h"

namespace hewn::runtime {
namespace {

Shape max_pool_shape(const Node& node, std::span<const Shape> in) {
  if (node.window.padding > (node.window.kernel_height - 1) * node.window.dilation / 2 ||
      node.window.padding > (node.window.kernel_width - 1) * node.window.dilation / 2) {
    throw Error("the padding of a pooling window is more than half of it");
  }
  return slide(node.window, in[0], in[0].channels);
}

int64_t max_pool_cost(const Node& node, std::span<const Shape>, const Shape& out) {
  return saturating_product(node.window.taps(), out.elements());
}

}  // namespace

const Operator& max_pool() {
  static constexpr Operator kMaxPool = {.name = "max_pool",
                                        .shape = max_pool_shape,
                                        .cost = max_pool_cost,
                                        .read = read_window,
                                        .write = write_window};
  return kMaxPool;
}

}  // namespace hewn::runtime
