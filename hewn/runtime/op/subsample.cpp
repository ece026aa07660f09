#include <algorithm>

#include "hewn/runtime/node_json.h"
#include "hewn/runtime/op/operator.h"
#include "hewn/runtime/op/work.h"

namespace hewn::runtime {
namespace {

Shape subsample_shape(const Node& node, std::span<const Shape> in) {
  return {in[0].channels + node.pad[0] + node.pad[1], (in[0].height - 1) / node.window.stride + 1,
          (in[0].width - 1) / node.window.stride + 1};
}

void read_subsample(const ObjectReader& reader, Node& node) {
  node.window.stride = reader.size("stride", 1);
  node.pad = reader.tuple<2>("pad", 0);
}

void write_subsample(const Node& node, Json& json) {
  json["stride"] = node.window.stride;
  json["pad"] = node.pad;
}

void run_subsample(const Work& work, int64_t part, int64_t parts) {
  const int64_t stride = work.node.window.stride;
  const Range range = share(work.out.height * work.out.width, part, parts);
  for (int64_t pixel = range.begin; pixel < range.end; ++pixel) {
    const int64_t y = pixel / work.out.width;
    const int64_t x = pixel % work.out.width;
    const float* from = work.from + work.in.row(y * stride, x * stride) * work.columns;
    float* to = work.to + work.out.row(y, x) * work.columns;
    to = std::fill_n(to, work.node.pad[0] * work.columns, 0.0F);
    to = std::copy_n(from, work.in.channels * work.columns, to);
    std::fill_n(to, work.node.pad[1] * work.columns, 0.0F);
  }
}

}  // namespace

/// Every stride-th pixel, with channels of zeros before and behind.
const Operator& subsample() {
  static constexpr Operator kSubsample = {.name = "subsample",
                                          .shape = subsample_shape,
                                          .read = read_subsample,
                                          .write = write_subsample,
                                          .run = run_subsample};
  return kSubsample;
}

}  // namespace hewn::runtime
