#include "hewn/runtime/op/window.h"

#include "hewn/core/error.h"
#include "hewn/runtime/node_json.h"

namespace hewn::runtime {

Shape slide(const kernels::ConvGeometry& window, const Shape& in, int64_t channels) {
  const int64_t height_over =
      in.height + 2 * window.padding - window.dilation * (window.kernel_height - 1) - 1;
  const int64_t width_over = in.width + 2 * window.padding - window.dilation * (window.kernel_width - 1) - 1;
  if (height_over < 0 || width_over < 0) {
    throw Error(str("a window of ", window.kernel_height, "x", window.kernel_width,
                    " is larger than its input of ", to_string(in)));
  }
  return {channels, height_over / window.stride + 1, width_over / window.stride + 1};
}

void read_window(const ObjectReader& reader, Node& node) {
  const auto kernel = reader.tuple<2>("kernel", 1, kMaxKernel);
  node.window = {kernel[0], kernel[1], reader.size("stride", 1), reader.size("padding", 0, kMaxKernel),
                 reader.size("dilation", 1, kMaxKernel)};
}

void write_window(const Node& node, Json& json) {
  json["kernel"] = {node.window.kernel_height, node.window.kernel_width};
  json["stride"] = node.window.stride;
  json["padding"] = node.window.padding;
  json["dilation"] = node.window.dilation;
}

}  // namespace hewn::runtime
