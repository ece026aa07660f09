#include <algorithm>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/runtime/op/window.h"
#include "hewn/runtime/op/work.h"
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

void run_max_pool(const Work& work, int64_t part, int64_t parts) {
  const kernels::ConvGeometry& window = work.node.window;
  const int64_t floats = work.out.channels * work.columns;
  const Range range = share(work.out.height * work.out.width, part, parts);
  for (int64_t pixel = range.begin; pixel < range.end; ++pixel) {
    const int64_t y = pixel / work.out.width;
    const int64_t x = pixel % work.out.width;
    float* to = work.to + work.out.row(y, x) * work.columns;
    bool first = true;
    for (int64_t ky = 0; ky < window.kernel_height; ++ky) {
      const int64_t in_y = y * window.stride - window.padding + ky * window.dilation;
      if (in_y < 0 || in_y >= work.in.height) continue;
      for (int64_t kx = 0; kx < window.kernel_width; ++kx) {
        const int64_t in_x = x * window.stride - window.padding + kx * window.dilation;
        if (in_x < 0 || in_x >= work.in.width) continue;
        const float* from = work.from + work.in.row(in_y, in_x) * work.columns;
        if (first) {
          std::copy_n(from, floats, to);
        } else {
          for (int64_t i = 0; i < floats; ++i) to[i] = std::max(to[i], from[i]);
        }
        first = false;
      }
    }
    // A dilated window over a small image may meet nothing but padding.
    if (first) std::fill_n(to, floats, -std::numeric_limits<float>::infinity());
  }
}

}  // namespace

const Operator& max_pool() {
  static constexpr Operator kMaxPool = {.name = "max_pool",
                                        .shape = max_pool_shape,
                                        .cost = max_pool_cost,
                                        .read = read_window,
                                        .write = write_window,
                                        .run = run_max_pool};
  return kMaxPool;
}

}  // namespace hewn::runtime
