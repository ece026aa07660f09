#include <algorithm>

#include "hewn/runtime/op/operator.h"
#include "hewn/runtime/op/work.h"

namespace hewn::runtime {
namespace {

Shape flatten_shape(const Node&, std::span<const Shape> in) { return {in[0].elements(), 1, 1}; }

/// From (y, x, channel) to (channel, y, x).
void run_flatten(const Work& work, int64_t part, int64_t parts) {
  const int64_t pixels = work.in.height * work.in.width;
  const Range range = share(pixels, part, parts);
  for (int64_t pixel = range.begin; pixel < range.end; ++pixel) {
    const float* from = work.from + work.in.row(pixel / work.in.width, pixel % work.in.width) * work.columns;
    float* to = work.to + (work.out.row(0, 0) + pixel) * work.columns;
    for (int64_t c = 0; c < work.in.channels; ++c) {
      std::copy_n(from + c * work.columns, work.columns, to + c * pixels * work.columns);
    }
  }
}

}  // namespace

/// Channels x height x width, in this order, as one vector.
const Operator& flatten() {
  static constexpr Operator kFlatten = {.name = "flatten", .shape = flatten_shape, .run = run_flatten};
  return kFlatten;
}

}  // namespace hewn::runtime
