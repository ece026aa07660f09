// Convolutions on planes. With strides the input is first sorted into planes of pixels that are a stride
// apart, in which the window moves pixel by pixel.
#include <algorithm>
#include <set>

#include "hewn/flow/builder.h"
#include "hewn/flow/lower/conv_shape.h"
#include "hewn/flow/lower/fuse.h"
#include "hewn/flow/lower/product.h"
#include "hewn/kernels/planes.h"

namespace hewn::flow {
namespace {

/// Adds the step that sorts; returns its slot.
int32_t add_sorting(Builder& builder, const Node& node, const ConvShape& shape, const Planes& sorted,
                    const std::vector<std::pair<int64_t, int64_t>>& phases) {
  const int32_t x = node.inputs[0];
  const bool rows = builder.in_planes(x, 1);
  const int32_t from = rows ? builder.rows(x, 1) : builder.plain(x);
  const Planes in = builder.planes(x, 1);
  const int32_t to = builder.scratch(static_cast<size_t>(sorted.floats() + 64) * sizeof(float));
  builder.add({.what = "sort " + to_string(node),
               .reads = {from},
               .writes = {to},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     float* base = memory.floats(from);
                     const Lines lines = rows ? lines_of(in, base) : lines_of_plain(in, base);
                     const Range range = share(sorted.channels, part, parts);
                     for (int64_t c = range.begin; c < range.end; ++c) {
                       const float* first = lines.first + c % in.channels * lines.channel;
                       sort_channel(SortShape{shape.window, in, sorted, lines.image, lines.line},
                                    phases[static_cast<size_t>(c / in.channels)], first,
                                    memory.floats(to) + c * sorted.stride, 0.0F);
                     }
                   },
               .work = sorted.floats()});
  return to;
}

/// One channel after the other, each with its own window.
void run_depthwise(const float* weight, const std::vector<int64_t>& taps, const ProductPlan& plan,
                   int64_t channel) {
  const auto run_tile = kernels::machine().tile;
  std::vector<kernels::Run> runs;
  for (const int64_t tap : taps) runs.push_back({static_cast<int32_t>(tap), 1});
  kernels::TileArguments t;
  t.runs = runs.data();
  t.run_count = static_cast<int64_t>(runs.size());
  t.run_unit = 1;
  t.in_stride = plan.product.in_stride;
  t.out_stride = plan.product.out_stride;
  t.weight = weight + channel * t.run_count;
  t.weight_stride = 1;
  t.outputs = 1;
  t.bias = plan.product.bias == nullptr ? nullptr : plan.product.bias + channel;
  t.relu = plan.product.relu;
  const int64_t width = kernels::machine().panel_width;
  for (int64_t column = 0; column < plan.columns; column += width) {
    t.columns = std::min(width, (plan.columns - column + 7) / 8 * 8);
    t.in = plan.product.in + channel * t.in_stride + column;
    t.out = plan.product.out + channel * t.out_stride + column;
    t.add = plan.product.add == nullptr ? nullptr : plan.product.add + channel * t.out_stride + column;
    run_tile(t);
  }
}

}  // namespace

bool plans_conv(Builder& builder, const Node& node) {
  if (node.op != "Conv" || builder.rank(node.inputs[0]) != 4) return false;
  const Tensor* weight = builder.constant(node.inputs[1]);
  const bool biased = node.inputs.size() > 2 && node.inputs[2] != kNone;
  if (weight == nullptr || (biased && builder.constant(node.inputs[2]) == nullptr)) return false;
  const ConvShape shape = conv_shape(builder, node);
  const int64_t limit = int64_t{1} << 12;  // windows beyond this are no windows
  if (shape.reach() > limit || builder.spec(node.outputs[0]).elements() == 0) return false;
  builder.mark(node.outputs[0], 1);
  if (shape.strided()) {
    builder.pitches().need(node.outputs[0], shape.reach());
  } else {
    const Dims& dims = builder.spec(node.inputs[0]).dims;
    builder.pitches().add(node.inputs[0], dims[2], dims[3]);
    builder.pitches().join(node.inputs[0], node.outputs[0]);
    builder.pitches().need(node.inputs[0], shape.reach());
  }
  return true;
}

void lower_conv(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  const ConvShape shape = conv_shape(builder, node);
  const Tensor& tensor = *builder.constant(node.inputs[1]);
  const Planes in_planes = builder.planes(node.inputs[0], 1);
  const Planes out_planes = builder.planes(node.outputs[0], 1);
  Planes read = in_planes;
  std::vector<int64_t> taps;
  int32_t in = kNone;
  if (shape.strided()) {
    read = sorted_planes(shape, in_planes, out_planes);
    Taps sorted = strided_taps(shape, read, in_planes.channels);
    read.channels *= static_cast<int64_t>(sorted.phases.size());
    in = add_sorting(builder, node, shape, read, sorted.phases);
    taps = std::move(sorted.offsets);
  } else {
    in = builder.rows(node.inputs[0], 1, shape.reach() > 0);
    taps = plain_taps(shape, in_planes);
  }
  const Tensor* bias =
      node.inputs.size() > 2 && node.inputs[2] != kNone ? builder.constant(node.inputs[2]) : nullptr;
  const Fused fused = take_along(builder, number, 1);
  const int32_t out = builder.new_rows(fused.value, 1);
  Step step{.what = to_string(node), .reads = {in}, .writes = {out}, .run = {}};
  if (fused.add != kNone) step.reads.push_back(fused.add);
  ProductPlan plan{
      .product = {}, .columns = out_planes.columns(), .in_lead = read.lead, .out_lead = out_planes.lead};
  plan.product.in_stride = read.stride;
  plan.product.out_stride = out_planes.stride;
  plan.product.bias = bias == nullptr ? nullptr : bias->values<float>().data();
  plan.product.relu = fused.relu;
  if (bias != nullptr) builder.plan.constants.push_back(*bias);
  if (shape.depthwise()) {
    builder.plan.constants.push_back(tensor);
    const float* weight = tensor.values<float>().data();
    step.run = [=](const Memory& memory, int64_t part, int64_t parts) {
      const ProductPlan here = plan.at(memory, in, out, fused.add);
      const Range channels = share(shape.outputs, part, parts);
      for (int64_t c = channels.begin; c < channels.end; ++c) run_depthwise(weight, taps, here, c);
    };
    step.work = shape.outputs * static_cast<int64_t>(taps.size()) * plan.columns;
    return builder.add(std::move(step));
  }
  add_products(builder, std::move(step), plan,
               {builder.weight(tensor, WeightKind::kConv, shape.groups), taps, in, out, fused.add});
}

}  // namespace hewn::flow
