// Pools over images: from planes or row-major lines into planes.
#include <algorithm>
#include <limits>

#include "hewn/flow/lower/pool.h"
#include "hewn/kernels/vector_math.h"

namespace hewn::flow {
namespace {

bool means_over_pixels(const Builder& builder, const Node& node) {
  if (node.op != "ReduceMean" || node.integer("keepdims", 1) != 1) return false;
  std::vector<int64_t> axes = node.integers("axes");
  if (node.inputs.size() > 1 && node.inputs[1] != kNone) {
    const Tensor* tensor = builder.constant(node.inputs[1]);
    if (tensor == nullptr) return false;
    axes.assign(tensor->values<int64_t>().begin(), tensor->values<int64_t>().end());
  }
  for (int64_t& axis : axes) axis += axis < 0 ? 4 : 0;
  std::sort(axes.begin(), axes.end());
  return axes == std::vector<int64_t>{2, 3};
}

bool pools(const Builder& builder, const Node& node) {
  if (node.inputs.empty() || builder.rank(node.inputs[0]) != 4) return false;
  if (builder.spec(node.inputs[0]).type != Type::kFloat || builder.spec(node.outputs[0]).elements() == 0)
    return false;
  if (node.op == "GlobalAveragePool" || means_over_pixels(builder, node)) return true;
  if (node.op == "AveragePool") return true;
  if (node.op != "MaxPool") return false;
  return node.outputs.size() < 2 || node.outputs[1] == kNone || builder.uses(node.outputs[1]) == 0;
}

/// One image of one channel.
struct PoolLines {
  const float* in;
  int64_t in_line;
  float* out;
  int64_t out_line;
};

/// Taps of each output of a line that lie inside the image.
std::vector<Range> taps_of(const Slide& slide) {
  std::vector<Range> taps;
  for (int64_t x = 0; x < slide.out; ++x) taps.push_back({slide.first_tap(x), slide.last_tap(x)});
  return taps;
}

/// `best` holds a line, `taps` are taps_of its outputs.
void max_pool_image(const Window& window, const std::vector<Range>& taps, const PoolLines& lines,
                    float* best) {
  const auto [high, wide] = window;
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  for (int64_t y = 0; y < high.out; ++y) {
    // The largest of each column first, then of the columns of each window.
    std::fill_n(best, wide.in, kLeast);
    for (int64_t tap = high.first_tap(y); tap < high.last_tap(y); ++tap) {
      const float* line = lines.in + (high.start(y) + tap * high.dilation) * lines.in_line;
      kernels::combine(kernels::Pair::kMax, best, 1, line, 1, best, wide.in);
    }
    float* out = lines.out + y * lines.out_line;
    for (int64_t x = 0; x < wide.out; ++x) {
      const Range& inside = taps[static_cast<size_t>(x)];
      const int64_t start = wide.start(x);
      float most = kLeast;
      for (int64_t tap = inside.begin; tap < inside.end; ++tap)
        most = std::max(most, best[start + tap * wide.dilation]);
      out[x] = most;
    }
  }
}

void average_pool_image(const Window& window, bool with_padding, const PoolLines& lines) {
  const auto [high, wide] = window;
  const auto counted = [&](const Slide& slide, int64_t at) {
    if (!with_padding) return slide.last_tap(at) - slide.first_tap(at);
    // Windows that ceil_mode adds reach beyond the padding, which does not count.
    const int64_t reach = slide.in + slide.after - slide.start(at);
    return std::clamp<int64_t>((reach + slide.dilation - 1) / slide.dilation, 0, slide.kernel);
  };
  for (int64_t y = 0; y < high.out; ++y) {
    for (int64_t x = 0; x < wide.out; ++x) {
      float sum = 0;
      for (int64_t v = high.first_tap(y); v < high.last_tap(y); ++v) {
        const float* line = lines.in + (high.start(y) + v * high.dilation) * lines.in_line + wide.start(x);
        for (int64_t u = wide.first_tap(x); u < wide.last_tap(x); ++u) sum += line[u * wide.dilation];
      }
      lines.out[y * lines.out_line + x] = sum / static_cast<float>(counted(high, y) * counted(wide, x));
    }
  }
}

float mean_of_image(const Planes& in, const float* first, int64_t line) {
  float sum = 0;
  for (int64_t y = 0; y < in.height; ++y) sum += kernels::sum(first + y * line, in.width);
  return sum / static_cast<float>(in.height * in.width);
}

}  // namespace

Window pool_window(const Builder& builder, const Node& node) {
  const View x{builder.spec(node.inputs[0]), nullptr};
  const Call call{.node = &node, .in = {&x}, .out = {}};
  return window_of(call, kernel_shape(call));
}

bool plans_pool(Builder& builder, const Node& node) {
  if (!pools(builder, node)) return false;
  builder.mark(node.outputs[0], 1);
  return true;
}

void lower_pool(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  const int32_t x = node.inputs[0];
  const bool rows = builder.in_planes(x, 1);
  const int32_t from = rows ? builder.rows(x, 1) : builder.plain(x);
  const int32_t to = builder.new_rows(node.outputs[0], 1);
  const Planes in = builder.planes(x, 1);
  const Planes out = builder.planes(node.outputs[0], 1);
  const bool window = node.op == "MaxPool" || node.op == "AveragePool";
  const bool most = node.op == "MaxPool";
  const bool with_padding = node.integer("count_include_pad", 0) != 0;
  const Window slides = window ? pool_window(builder, node) : Window{};
  const std::vector<Range> taps = taps_of(slides.wide);
  builder.add({.what = to_string(node),
               .reads = {from},
               .writes = {to},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const Lines lines =
                         rows ? lines_of(in, memory.floats(from)) : lines_of_plain(in, memory.floats(from));
                     const Lines results = lines_of(out, memory.floats(to));
                     thread_local std::vector<float> best;
                     best.resize(std::max(best.size(), static_cast<size_t>(slides.wide.in)));
                     const Range range = share(in.channels * in.images, part, parts);
                     for (int64_t i = range.begin; i < range.end; ++i) {
                       const int64_t c = i / in.images;
                       const int64_t n = i % in.images;
                       const float* first = lines.first + c * lines.channel + n * lines.image;
                       float* result = results.first + c * results.channel + n * results.image;
                       const PoolLines image{first, lines.line, result, results.line};
                       if (!window) {
                         *result = mean_of_image(in, first, lines.line);
                       } else if (most) {
                         max_pool_image(slides, taps, image, best.data());
                       } else {
                         average_pool_image(slides, with_padding, image);
                       }
                     }
                   },
               .work = in.channels * in.images * in.height * in.width * (window ? slides.high.kernel : 1)});
}

}  // namespace hewn::flow
