#include "hewn/flow/lower/conv_shape.h"

#include <map>

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
  std::map<std::pair<int64_t, int64_t>, int64_t> numbers;
  for (int64_t y = 0; y < high.kernel; ++y) {
    for (int64_t x = 0; x < wide.kernel; ++x) {
      const std::pair phase(y * high.dilation % high.stride, x * wide.dilation % wide.stride);
      const auto [at, added] = numbers.try_emplace(phase, static_cast<int64_t>(out.phases.size()));
      if (added) out.phases.push_back(phase);
      out.offsets.push_back(at->second * channels * sorted.stride +
                            y * high.dilation / high.stride * sorted.line + x * wide.dilation / wide.stride);
    }
  }
  return out;
}

Planes sorted_planes(const ConvShape& shape, const Planes& in, const Planes& out) {
  const int64_t height = out.by_lines() ? out.height + shape.reach() : out.plane / out.line;
  const int64_t width = out.by_lines() ? out.plane : out.line;
  return planes_of(in.channels, in.images, height, width, out.line, out.plane,
                   shape.reach() * (out.line + 1));
}

}  // namespace hewn::flow
