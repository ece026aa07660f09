// Convolutions on planes. With strides the input is first sorted into planes of pixels that are a stride
// apart, in which the window moves pixel by pixel. In small images, and with taps far apart, taps read planes
// of their own.
#include <algorithm>

#include "hewn/flow/builder.h"
#include "hewn/flow/lower/conv_shape.h"
#include "hewn/flow/lower/fuse.h"
#include "hewn/flow/lower/product.h"
#include "hewn/kernels/planes/planes.h"
#include "hewn/kernels/taps.h"

namespace hewn::flow {
namespace {

/// Places [first, last) of a phase, below `places`, whose pixels lie inside the image: place u is the pixel u
/// * stride + shift.
struct Phase {
  int64_t shift;
  int64_t first;
  int64_t last;

  Phase(const Slide& slide, int64_t phase, int64_t places)
      : shift(phase - slide.before),
        first(std::min(places, shift >= 0 ? 0 : (-shift + slide.stride - 1) / slide.stride)),
        last(std::clamp((slide.in - shift + slide.stride - 1) / slide.stride, first, places)) {}
};

/// Sorts the pixels of one channel for one phase.
void sort_pixels(const ConvShape& shape, const Planes& in, const Lines& from, const Planes& sorted,
                 const std::pair<int64_t, int64_t>& phase, float* row) {
  const auto [high, wide] = shape.window;
  const Phase y(high, phase.first, sorted.height);
  const Phase x(wide, phase.second, sorted.width);
  float* between = row;  // where zeros begin that are not written yet
  if (sorted.by_lines()) {
    between = row + sorted.stride;
    std::fill(row, between, 0.0F);
  }
  for (int64_t n = 0; n < in.images; ++n) {
    kernels::PixelLines lines;
    lines.in = from.first + n * from.image + (y.first * high.stride + y.shift) * from.line +
               x.first * wide.stride + x.shift;
    lines.in_line = high.stride * from.line;
    lines.out = row + sorted.lead + n * sorted.plane + y.first * sorted.line + x.first;
    lines.out_line = sorted.line;
    lines.lines = y.last - y.first;
    lines.count = x.last - x.first;
    for (int64_t v = 0; v < lines.lines && !sorted.by_lines(); ++v) {
      float* line = lines.out + v * lines.out_line;
      std::fill(between, line, 0.0F);
      between = line + lines.count;
    }
    if (wide.stride == 2) {
      kernels::every_second(lines);
      continue;
    }
    for (int64_t v = 0; v < lines.lines; ++v) {
      const float* pixel = lines.in + v * lines.in_line;
      float* to = lines.out + v * lines.out_line;
      for (int64_t u = 0; u < lines.count; ++u) to[u] = pixel[u * wide.stride];
    }
  }
  std::fill(between, row + sorted.stride, 0.0F);
}

/// Where a strided convolution's pixels come from, and how they are sorted.
struct Sorting {
  ConvShape shape;
  bool rows;  // in planes already, else row-major
  Planes in;
  Planes sorted;
  std::vector<std::pair<int64_t, int64_t>> phases;

  void sort(float* base, int64_t channel, size_t phase, float* row) const {
    Lines lines = rows ? lines_of(in, base) : lines_of_plain(in, base);
    lines.first += channel * lines.channel;
    sort_pixels(shape, in, lines, sorted, phases[phase], row);
  }
};

/// Adds the step that sorts all channels; returns its slot.
int32_t add_sorting(Builder& builder, const Node& node, int32_t from, const Sorting& sorting) {
  const int64_t all = sorting.sorted.channels * static_cast<int64_t>(sorting.phases.size());
  const int64_t floats = all * sorting.sorted.stride;
  const int32_t to = builder.scratch(static_cast<size_t>(floats + 64) * sizeof(float));
  builder.add({.what = "sort " + to_string(node),
               .reads = {from},
               .writes = {to},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const Range range = share(all, part, parts);
                     const auto phases = static_cast<int64_t>(sorting.phases.size());
                     // All phases of a channel while its lines are in the L1 cache.
                     for (int64_t i = range.begin; i < range.end; ++i) {
                       const int64_t channel = i / phases;
                       const int64_t phase = i % phases;
                       float* row = memory.floats(to) +
                                    (phase * sorting.in.channels + channel) * sorting.sorted.stride;
                       sorting.sort(memory.floats(from), channel, static_cast<size_t>(phase), row);
                     }
                   },
               .work = floats});
  return to;
}

/// One channel's phases, one behind the other, in memory that stays with its thread.
float* sort_one(const Sorting& sorting, float* base, int64_t channel) {
  thread_local std::vector<float> sorted;
  const auto stride = static_cast<size_t>(sorting.sorted.stride);
  if (sorted.size() < stride * sorting.phases.size() + 64) sorted.resize(stride * sorting.phases.size() + 64);
  for (size_t phase = 0; phase < sorting.phases.size(); ++phase) {
    sorting.sort(base, channel, phase, sorted.data() + phase * stride);
  }
  return sorted.data();
}

/// One channel, whose pixels begin at `in`, with its own window.
void run_depthwise(const float* weight, const std::vector<int64_t>& taps, const ProductPlan& plan,
                   const float* in, int64_t channel) {
  constexpr int64_t kPiece = 2048;  // columns that stay in the L1 cache for what follows
  const kernels::PlaneProduct& product = plan.product;
  kernels::TapSum sum;
  sum.weight = weight + channel * static_cast<int64_t>(taps.size());
  sum.taps = taps.data();
  sum.count = static_cast<int64_t>(taps.size());
  sum.bias = product.bias == nullptr ? 0.0F : product.bias[channel];
  sum.relu = product.relu;
  for (int64_t column = 0; column < plan.columns; column += kPiece) {
    const int64_t columns = std::min(kPiece, plan.columns - column);
    sum.in = in + column;
    sum.out = product.out + channel * product.out_stride + column;
    sum.add = product.add == nullptr ? nullptr : product.add + channel * product.out_stride + column;
    kernels::sum_taps(sum, columns);
    if (product.then.on)
      kernels::apply(product.then.function, product.then.a, product.then.b, sum.out, sum.out, columns);
  }
}

}  // namespace

namespace {

// Multiply-adds in the time in which a number is moved to where a tap reads it: in lines of 7 pixels. Longer
// ones go faster, but gain less.
constexpr double kMove = 100;
// Numbers of moved planes: more would not be worth their memory.
constexpr double kMostMoved = 1 << 26;

/// Of the ways of Apart the fastest: whether moving the input costs less than the products of what lies
/// between lines and images.
Apart fastest_way(Builder& builder, const Node& node, const ConvShape& shape) {
  if (shape.strided() || shape.depthwise() || shape.reach() == 0) return Apart::kNothing;
  const auto [high, wide] = shape.window;
  const Tensor& tensor = *builder.constant(node.inputs[1]);
  const auto border = static_cast<double>(shape.reach());
  const auto height = static_cast<double>(high.out);
  const auto width = static_cast<double>(wide.out);
  const auto channels = static_cast<double>(shape.channels * shape.groups);
  const auto columns = static_cast<double>(wide.kernel);
  const auto lines = static_cast<double>(high.kernel);
  // For a pixel of the output.
  const double density = builder.weight(tensor, WeightKind::kConv, shape.groups)->density;
  const double products = static_cast<double>(tensor.elements()) * density;
  const double extent = height + (lines - 1) * static_cast<double>(high.dilation);
  const double together = products * (width + border) / width;
  const double by_columns = products + kMove * columns * channels * extent / height;
  const double by_taps = products + kMove * columns * lines * channels;
  const double images = static_cast<double>(builder.spec(node.inputs[0]).dims[0]);
  const auto fits = [&](double planes, double pixels) {
    return planes * channels * images * pixels * width < kMostMoved;
  };
  if (by_columns <= by_taps && by_columns < together && fits(columns, extent)) return Apart::kColumns;
  return by_taps < together && fits(columns * lines, height) ? Apart::kAll : Apart::kNothing;
}

ConvShape planned_shape(Builder& builder, const Node& node) {
  ConvShape shape = conv_shape(builder, node);
  shape.apart = fastest_way(builder, node, shape);
  return shape;
}

bool is_plannable(const Builder& builder, const Node& node) {
  if (node.op != "Conv" || builder.rank(node.inputs[0]) != 4) return false;
  const Tensor* weight = builder.constant(node.inputs[1]);
  const bool biased = node.inputs.size() > 2 && node.inputs[2] != kNone;
  if (weight == nullptr || (biased && builder.constant(node.inputs[2]) == nullptr)) return false;
  constexpr int64_t kLimit = int64_t{1} << 12;  // windows beyond this are no windows
  return builder.spec(node.outputs[0]).elements() > 0 && weight->elements() > 0 &&
         conv_shape(builder, node).reach() <= kLimit;
}

void plan_places(Builder& builder, const Node& node, const ConvShape& shape) {
  builder.mark(node.outputs[0], 1);
  if (shape.strided()) {
    builder.pitches().need(node.outputs[0], shape.reach());
  } else if (shape.apart == Apart::kColumns) {
    builder.pitches().lay_by_lines(node.outputs[0]);
  } else if (shape.apart == Apart::kNothing) {
    const Dims& dims = builder.spec(node.inputs[0]).dims;
    builder.pitches().add(node.inputs[0], dims[2], dims[3]);
    builder.pitches().join(node.inputs[0], node.outputs[0]);
    builder.pitches().need(node.inputs[0], shape.reach());
  }
}

}  // namespace

bool plans_conv(Builder& builder, const Node& node) {
  if (!is_plannable(builder, node)) return false;
  plan_places(builder, node, planned_shape(builder, node));
  return true;
}

bool plans_conv_of_words(Builder& builder, const Node& node) {
  if (!is_plannable(builder, node)) return false;
  plan_places(builder, node, conv_shape(builder, node));
  return true;
}

void lower_conv(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  const ConvShape shape = planned_shape(builder, node);
  const Tensor& tensor = *builder.constant(node.inputs[1]);
  const Planes in_planes = builder.planes(node.inputs[0], 1);
  const Planes out_planes = builder.planes(node.outputs[0], 1);
  Planes read = in_planes;
  std::vector<int64_t> taps;
  int32_t in = kNone;
  Sorting sorting{shape, builder.in_planes(node.inputs[0], 1), in_planes, {}, {}};
  if (shape.sorts()) {
    read = sorted_planes(shape, in_planes, out_planes);
    SortedTaps sorted = sorted_taps(shape, read, shape.depthwise() ? 1 : in_planes.channels);
    sorting.sorted = read;
    sorting.phases = sorted.phases;
    taps = std::move(sorted.offsets);
    in = sorting.rows ? builder.rows(node.inputs[0], 1) : builder.plain(node.inputs[0]);
    if (!shape.depthwise()) in = add_sorting(builder, node, in, sorting);
  } else {
    in = builder.rows(node.inputs[0], 1, shape.reach() > 0);
    taps = plain_taps(shape, in_planes);
  }
  const Tensor* bias =
      node.inputs.size() > 2 && node.inputs[2] != kNone ? builder.constant(node.inputs[2]) : nullptr;
  const Fused fused = take_along(builder, number, 1);
  const int32_t out = result_rows(builder, fused, 1);
  Step step{.what = to_string(node), .reads = {in}, .writes = {out}, .run = {}};
  if (fused.add != kNone) step.reads.push_back(fused.add);
  ProductPlan plan{
      .product = {}, .columns = out_planes.columns(), .in_lead = read.lead, .out_lead = out_planes.lead};
  plan.product.in_stride = read.stride;
  plan.product.out_stride = out_planes.stride;
  plan.product.bias = bias == nullptr ? nullptr : bias->values<float>().data();
  plan.product.relu = fused.relu;
  plan.product.then = fused.then;
  if (bias != nullptr) builder.plan.constants.push_back(*bias);
  if (shape.depthwise()) {
    builder.plan.constants.push_back(tensor);
    const float* weight = tensor.values<float>().data();
    step.run = [=](const Memory& memory, int64_t part, int64_t parts) {
      const ProductPlan here = plan.at(memory, in, out, fused.add);
      const Range channels = share(shape.outputs, part, parts);
      for (int64_t c = channels.begin; c < channels.end; ++c) {
        const float* from = shape.strided() ? sort_one(sorting, memory.floats(in), c) + read.lead
                                            : here.product.in + c * read.stride;
        run_depthwise(weight, taps, here, from, c);
      }
    };
    step.work = shape.outputs * static_cast<int64_t>(taps.size()) * plan.columns;
    return builder.add(std::move(step));
  }
  add_products(builder, std::move(step), plan,
               {builder.weight(tensor, WeightKind::kConv, shape.groups), taps, in, out, fused.add,
                strips_of(shape, out_planes)});
}

}  // namespace hewn::flow
