#include "hewn/flow/lower/conv_shape.h"

namespace hewn::flow {

int64_t ConvShape::reach() const {
  const auto of = [&](const Slide& slide) {
    if (strided()) return (slide.kernel - 1) * slide.dilation / slide.stride;
    return std::max(slide.before, slide.after);
  };
  return std::max(of(window.high), of(window.wide));
}

ConvShape conv_shape(const Builder& builder, const Node& node) {
  const View x{builder.spec(node.inputs[0]), nullptr};
  const View w{builder.spec(node.inputs[1]), nullptr};
  const Call call{.node = &node, .in = {&x, &w}, .out = {}};
  const Dims& weight = w.spec.dims;
  return {window_of(call, {weight[2], weight[3]}), node.integer("group", 1), weight[1], weight[0]};
}

std::vector<int64_t> plain_taps(const ConvShape& shape, const Planes& in) {
  const auto [high, wide] = shape.window;
  std::vector<int64_t> out;
  for (int64_t y = 0; y < high.kernel; ++y) {
    for (int64_t x = 0; x < wide.kernel; ++x) {
      out.push_back((y * high.dilation - high.before) * in.line + x * wide.dilation - wide.before);
    }
  }
  return out;
}

Taps strided_taps(const ConvShape& shape, const Planes& sorted, int64_t channels) {
  const auto [high, wide] = shape.window;
  Taps out;
  for (int64_t y = 0; y < high.kernel; ++y) {
    for (int64_t x = 0; x < wide.kernel; ++x) {
      const std::pair phase(y * high.dilation % high.stride, x * wide.dilation % wide.stride);
      auto at = std::find(out.phases.begin(), out.phases.end(), phase);
      if (at == out.phases.end()) at = out.phases.insert(at, phase);
      out.offsets.push_back((at - out.phases.begin()) * channels * sorted.stride +
                            y * high.dilation / high.stride * sorted.line + x * wide.dilation / wide.stride);
    }
  }
  return out;
}

Planes sorted_planes(const ConvShape& shape, const Planes& in, const Planes& out) {
  return planes_of(in.channels, in.images, out.plane / out.line, out.line, out.line, out.plane,
                   shape.reach() * (out.line + 1));
}

}  // namespace hewn::flow
