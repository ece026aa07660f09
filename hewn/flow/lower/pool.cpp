// Pools over images: from planes or row-major lines into planes.
#include <algorithm>
#include <limits>

#include "hewn/flow/lower/pool.h"
#include "hewn/kernels/taps.h"
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

/// Pixels that an average is over, in one dimension.
int64_t counted(const Slide& slide, bool with_padding, int64_t at) {
  if (!with_padding) return slide.last_tap(at) - slide.first_tap(at);
  // Windows that ceil_mode adds reach beyond the padding, which does not count.
  const int64_t reach = slide.in + slide.after - slide.start(at);
  return std::clamp<int64_t>((reach + slide.dilation - 1) / slide.dilation, 0, slide.kernel);
}

/// How a pool of windows walks: what is the same for all images.
struct Pooling {
  Window window;
  kernels::Fold fold;
  bool with_padding;
  std::vector<float> counts;  // of the columns of a line's windows, for averages

  Pooling(const Window& of, bool most, bool padding)
      : window(of), fold(most ? kernels::Fold::kMax : kernels::Fold::kSum), with_padding(padding) {
    for (int64_t x = 0; x < window.wide.out && !most; ++x)
      counts.push_back(static_cast<float>(counted(window.wide, with_padding, x)));
  }

  kernels::PoolLine line() const {
    const Slide& wide = window.wide;
    return {.width = wide.in,
            .before = wide.before,
            .kernel = wide.kernel,
            .stride = wide.stride,
            .dilation = wide.dilation,
            .count = wide.out};
  }

  /// Lines with all that lies outside of the image, unless a window reaches far beyond it.
  bool near() const { return line().room() <= 2 * window.wide.in + 256; }

  /// One window, of which only what is inside is looked at.
  float far(const PoolLines& lines, int64_t y, int64_t x) const {
    const auto [high, wide] = window;
    const bool most = fold == kernels::Fold::kMax;
    float out = most ? -std::numeric_limits<float>::infinity() : 0.0F;
    for (int64_t v = high.first_tap(y); v < high.last_tap(y); ++v) {
      const float* line = lines.in + (high.start(y) + v * high.dilation) * lines.in_line + wide.start(x);
      for (int64_t u = wide.first_tap(x); u < wide.last_tap(x); ++u) {
        const float pixel = line[u * wide.dilation];
        out = most ? std::max(out, pixel) : out + pixel;
      }
    }
    return out;
  }

  void run(const PoolLines& lines, float* room) const {
    const Slide& high = window.high;
    kernels::PoolLine pool = line();
    pool.line = high.dilation * lines.in_line;
    for (int64_t y = 0; y < high.out; ++y) {
      const int64_t first = high.first_tap(y);
      pool.lines = high.last_tap(y) - first;
      pool.in = lines.in + (high.start(y) + first * high.dilation) * lines.in_line;
      pool.out = lines.out + y * lines.out_line;
      if (near()) {
        kernels::pool_line(fold, pool, room);
      } else {
        for (int64_t x = 0; x < pool.count; ++x) pool.out[x] = far(lines, y, x);
      }
      if (counts.empty()) continue;
      const auto rows = static_cast<float>(counted(high, with_padding, y));
      kernels::combine(kernels::Pair::kDiv, pool.out, 1, counts.data(), 1, pool.out, window.wide.out);
      kernels::combine(kernels::Pair::kDiv, pool.out, 1, &rows, 0, pool.out, window.wide.out);
    }
  }
};

float mean_of_image(const Planes& in, const float* first, int64_t line) {
  return kernels::sum_lines(first, line, in.height, in.width) / static_cast<float>(in.height * in.width);
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
  const Pooling pooling(slides, most, with_padding);
  builder.add({.what = to_string(node),
               .reads = {from},
               .writes = {to},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const Lines lines =
                         rows ? lines_of(in, memory.floats(from)) : lines_of_plain(in, memory.floats(from));
                     const Lines results = lines_of(out, memory.floats(to));
                     thread_local std::vector<float> room;
                     if (pooling.near())
                       room.resize(std::max(room.size(), static_cast<size_t>(pooling.line().room())));
                     const Range range = share(in.channels * in.images, part, parts);
                     for (int64_t i = range.begin; i < range.end; ++i) {
                       const int64_t c = i / in.images;
                       const int64_t n = i % in.images;
                       const float* first = lines.first + c * lines.channel + n * lines.image;
                       float* result = results.first + c * results.channel + n * results.image;
                       const PoolLines image{first, lines.line, result, results.line};
                       if (!window) {
                         *result = mean_of_image(in, first, lines.line);
                       } else {
                         pooling.run(image, room.data());
                       }
                     }
                   },
               .work = in.channels * in.images * in.height * in.width * (window ? slides.high.kernel : 1)});
}

}  // namespace hewn::flow
