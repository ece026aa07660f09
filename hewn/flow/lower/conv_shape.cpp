#include "hewn/flow/lower/conv_shape.h"

#include <map>

namespace hewn::flow {

namespace {

/// Beyond the last tap.
int64_t end_of(const Slide& slide) { return slide.kernel * slide.dilation; }

int64_t reach_of(const Slide& slide, bool sorts, bool apart) {
  if (apart) return 0;
  return sorts ? (slide.kernel - 1) * slide.dilation / slide.stride : std::max(slide.before, slide.after);
}

}  // namespace

int64_t ConvShape::lines_between() const {
  return apart == Apart::kAll ? end_of(window.high) : window.high.stride;
}

int64_t ConvShape::pixels_between() const {
  return apart != Apart::kNothing ? end_of(window.wide) : window.wide.stride;
}

int64_t ConvShape::reach_of_lines() const { return reach_of(window.high, sorts(), apart == Apart::kAll); }

int64_t ConvShape::reach_of_pixels() const {
  return reach_of(window.wide, sorts(), apart != Apart::kNothing);
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

SortedTaps sorted_taps(const ConvShape& shape, const Planes& sorted, int64_t channels) {
  const auto [high, wide] = shape.window;
  const int64_t lines = shape.lines_between();
  const int64_t pixels = shape.pixels_between();
  SortedTaps out;
  std::map<std::pair<int64_t, int64_t>, int64_t> numbers;
  for (int64_t y = 0; y < high.kernel; ++y) {
    for (int64_t x = 0; x < wide.kernel; ++x) {
      const std::pair phase(y * high.dilation % lines, x * wide.dilation % pixels);
      const auto [at, added] = numbers.try_emplace(phase, static_cast<int64_t>(out.phases.size()));
      if (added) out.phases.push_back(phase);
      out.offsets.push_back(at->second * channels * sorted.stride + y * high.dilation / lines * sorted.line +
                            x * wide.dilation / pixels);
    }
  }
  return out;
}

namespace {

/// Columns of the window that read the image for any column of the output.
kernels::TapRange columns_needed(const Slide& wide) {
  kernels::TapRange needed{wide.kernel, 0};
  for (int64_t x = 0; x < wide.out; ++x) {
    needed.first = std::min(needed.first, wide.first_tap(x));
    needed.last = std::max(needed.last, wide.last_tap(x));
  }
  return needed;
}

/// From the first tap of such lines of the window to the last one.
kernels::TapRange taps_of(const kernels::TapRange& lines, const kernels::TapRange& columns, int64_t kernel) {
  if (lines.last <= lines.first || columns.last <= columns.first) return {0, 0};
  return {lines.first * kernel + columns.first, (lines.last - 1) * kernel + columns.last};
}

}  // namespace

std::vector<Strip> strips_of(const ConvShape& shape, const Planes& out) {
  constexpr int64_t kCell = 16;         // columns: full vectors
  constexpr double kWorthwhile = 0.03;  // of the products
  const Slide& high = shape.window.high;
  const int64_t columns = out.columns();
  const Strip all{columns, {}};
  // Lines of the window that any pixel of a cell needs.
  const kernels::TapRange nothing{high.kernel, 0};
  std::vector<kernels::TapRange> cells(static_cast<size_t>((columns + kCell - 1) / kCell), nothing);
  for (int64_t n = 0; n < out.images; ++n) {
    for (int64_t y = 0; y < out.height; ++y) {
      const int64_t first = n * out.plane + y * out.line;
      for (int64_t cell = first / kCell; cell * kCell < first + out.width; ++cell) {
        kernels::TapRange& needed = cells[static_cast<size_t>(cell)];
        needed.first = std::min(needed.first, high.first_tap(y));
        needed.last = std::max(needed.last, high.last_tap(y));
      }
    }
  }
  const kernels::TapRange wide = columns_needed(shape.window.wide);
  std::vector<Strip> strips;
  int64_t taps = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const kernels::TapRange needed = taps_of(cells[i], wide, shape.window.wide.kernel);
    taps += needed.last - needed.first;
    if (strips.empty() || strips.back().needed != needed) strips.push_back({0, needed});
    strips.back().last = std::min(columns, static_cast<int64_t>(i + 1) * kCell);
  }
  const auto whole =
      static_cast<double>(high.kernel * shape.window.wide.kernel) * static_cast<double>(cells.size());
  return static_cast<double>(taps) < (1 - kWorthwhile) * whole ? strips : std::vector<Strip>{all};
}

Planes sorted_planes(const ConvShape& shape, const Planes& in, const Planes& out) {
  const int64_t reach = shape.reach_of_lines() * out.line + shape.reach_of_pixels();
  const bool together = out.by_lines() || out.images == 1;
  const int64_t height = together ? out.height + shape.reach_of_lines() : out.plane / out.line;
  const int64_t width = out.by_lines() ? out.plane : out.line;
  return planes_of(in.channels, in.images, height, width, out.line, out.plane, reach);
}

}  // namespace hewn::flow
