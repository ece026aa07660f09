#include "hewn/runtime/node_json.h"
#include "hewn/runtime/op/operator.h"

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

}  // namespace

/// Every stride-th pixel, with channels of zeros before and behind.
const Operator& subsample() {
  static constexpr Operator kSubsample = {
      .name = "subsample", .shape = subsample_shape, .read = read_subsample, .write = write_subsample};
  return kSubsample;
}

}  // namespace hewn::runtime
