// Convolutions and products of bytes, on planes of words.
#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/flow/builder.h"
#include "hewn/flow/int8/byte_weights.h"
#include "hewn/flow/lower/conv_shape.h"
#include "hewn/flow/lower/product.h"
#include "hewn/flow/lower/word_steps.h"
#include "hewn/kernels/int8/byte_matrix.h"

namespace hewn::flow {
namespace {

using kernels::ByteProduct;
using kernels::ByteScale;

/// One group of a product: its weight and the numbers around it.
struct ByteGroup {
  const kernels::ByteWeight* weight;
  std::vector<int32_t> offsets;
  std::vector<int32_t> matrix_offsets;
  std::vector<int32_t> start;
  std::vector<float> scale;
  std::vector<float> bias;
  int64_t in = 0;   // words from the first group's
  int64_t out = 0;  // rows from the first group's
};

/// A product whose memory is not known yet.
struct BytePlan {
  ByteProduct product;
  int64_t columns = 0;
  int64_t in_lead = 0;
  int64_t out_lead = 0;
  bool floats = false;
  bool one = false;  // a single column
  std::vector<ByteGroup> groups;
};

/// What is known of a product of bytes before its groups.
struct ByteLayer {
  std::vector<int64_t> taps;
  int64_t in_stride = 0;
  ByteScale in;
  ByteScale out;  // 1 and 0 of floats
  const WeightBytes* weight = nullptr;
  const float* bias = nullptr;
};

std::vector<ByteGroup> groups_of(const ByteWeights& weights, const ByteLayer& layer) {
  std::vector<ByteGroup> out;
  int64_t first = 0;
  int64_t in = 0;
  for (const kernels::ByteWeight& weight : weights) {
    ByteGroup group{&weight, kernels::word_offsets(weight, layer.taps, layer.in_stride),
                    {},      kernels::starts_of(weight, layer.in.zero, kernels::byte_machine()),
                    {},      {},
                    in,      first};
    if (weight.matrix() != nullptr) {
      group.matrix_offsets = kernels::matrix_offsets(*weight.matrix(), layer.taps, layer.in_stride);
    }
    group.scale.assign(static_cast<size_t>(weight.outputs()) + 16, 0.0F);
    group.bias = group.scale;
    for (int64_t j = 0; j < weight.outputs(); ++j) {
      const auto at = static_cast<size_t>(first + j);
      const double unit = layer.out.scale;
      group.scale[static_cast<size_t>(j)] =
          static_cast<float>(double{layer.in.scale} * layer.weight->scales[at] / unit);
      group.bias[static_cast<size_t>(j)] =
          layer.bias == nullptr ? 0.0F : static_cast<float>(layer.bias[at] / unit);
    }
    first += weight.outputs();
    in += kernels::word_rows(weight.channels()) * layer.in_stride;
    out.push_back(std::move(group));
  }
  return out;
}

void run_byte_group(const BytePlan& plan, const ByteGroup& group, ByteProduct product, int64_t part,
                    int64_t parts) {
  product.weight = group.weight;
  product.offsets = group.offsets.data();
  product.matrix_offsets = group.matrix_offsets.data();
  product.start = group.start.data();
  product.scale = group.scale.data();
  product.bias = group.bias.data();
  product.in += group.in;
  const int64_t row = group.out / kernels::kWordChannels * product.out_stride;
  if (plan.floats) product.out_floats += group.out * product.out_stride;
  if (!plan.floats) product.out += row;
  if (product.add != nullptr) product.add += row;
  const kernels::ByteMachine& machine = *product.machine;
  const bool matrix =
      plan.one ? machine.matrix_of_one != nullptr : machine.matrix != nullptr && group.weight->matrix_pays();
  const int64_t tiles = matrix ? group.weight->matrix()->tile_count() : group.weight->tile_count();
  if (plan.one) {
    const Range range = share(tiles, part, parts);
    return (matrix ? kernels::multiply_matrix_words_of_one : kernels::multiply_words_of_one)(
        product, range.begin, range.end);
  }
  const auto multiply = matrix ? kernels::multiply_matrix_words : kernels::multiply_words;
  const int64_t width = matrix ? 64 : 48;  // columns that no thread cuts
  const int64_t chunks = (plan.columns + width - 1) / width;
  if (parts == 1 || chunks >= 4 * parts) {
    const Range range = share(chunks, part, parts);
    return multiply(product, range.begin * width, std::min(plan.columns, range.end * width), 0, tiles);
  }
  const Range range = share(tiles, part, parts);
  multiply(product, 0, plan.columns, range.begin, range.end);
}

/// Slots of one step.
struct ByteSlots {
  int32_t in;
  int32_t out;
  int32_t add;
};

void add_byte_step(Builder& builder, Step step, std::shared_ptr<const BytePlan> plan,
                   const ByteSlots& slots) {
  step.reads = {slots.in};
  step.writes = {slots.out};
  if (slots.add != kNone) step.reads.push_back(slots.add);
  double words = 0;
  double kept = 0;
  for (const ByteGroup& group : plan->groups) {
    step.work += group.weight->products() * plan->columns / 2;
    step.weights += group.weight->products();
    kept += static_cast<double>(group.weight->products());
    words += static_cast<double>(group.weight->dense_products());
  }
  step.what += str(": int8, ", std::lround(100 * kept / std::max(words, 1.0)), " % multiplied");
  step.run = [plan = std::move(plan), slots](const Memory& memory, int64_t part, int64_t parts) {
    ByteProduct product = plan->product;
    product.in = static_cast<const uint32_t*>(memory.at(slots.in)) + plan->in_lead;
    if (plan->floats) product.out_floats = memory.floats(slots.out) + plan->out_lead;
    if (!plan->floats) product.out = static_cast<uint32_t*>(memory.at(slots.out)) + plan->out_lead;
    if (slots.add != kNone) {
      product.add = static_cast<const uint32_t*>(memory.at(slots.add)) + plan->out_lead;
    }
    for (const ByteGroup& group : plan->groups) run_byte_group(*plan, group, product, part, parts);
  };
  builder.add(std::move(step));
}

/// What both kinds share: the product from words at `in`, lying in `read`, to the planes of the tail.
struct ByteWay {
  int32_t in = kNone;
  Planes read;
  std::vector<int64_t> taps;
  int64_t axis = 1;
  int64_t groups = 1;
  WeightKind kind = WeightKind::kConv;
  int32_t bias = kNone;
};

void add_bytes(Builder& builder, const Node& node, const ByteWay& way, const WordTail& tail) {
  const ByteScale* out_scale = builder.bytes(tail.value);
  const bool floats = out_scale == nullptr;
  const int32_t out =
      floats ? builder.new_rows(tail.value, way.axis) : builder.new_words(tail.value, way.axis);
  const Planes to = builder.planes(tail.value, way.axis);
  const WeightBytes& bytes = builder.graph().weight_bytes.at(node.inputs[1]);
  const auto weights = builder.byte_weights(*builder.constant(node.inputs[1]), bytes, way.kind, way.groups);
  ByteLayer layer{way.taps, way.read.stride, *builder.bytes(node.inputs[0]),
                  floats ? ByteScale{} : *out_scale, &bytes};
  if (way.bias != kNone) layer.bias = builder.constant(way.bias)->values<float>().data();
  auto plan = std::make_shared<BytePlan>();
  plan->groups = groups_of(*weights, layer);
  plan->columns = to.columns();
  plan->in_lead = way.read.lead;
  plan->out_lead = to.lead;
  plan->floats = floats;
  plan->one = to.columns() == 1 && way.read.stride == 1 && to.stride == 1;
  plan->product.machine = &kernels::byte_machine();
  plan->product.in_zero = layer.in.zero;
  plan->product.in_stride = way.read.stride;
  plan->product.out_stride = to.stride;
  plan->product.zero = layer.out.zero;
  plan->product.relu = tail.relu;
  if (tail.add != kNone) {
    plan->product.add_scale = static_cast<float>(double{builder.bytes(tail.added)->scale} / layer.out.scale);
    plan->product.add_zero = builder.bytes(tail.added)->zero;
  }
  builder.plan.kept.push_back(weights);
  add_byte_step(builder, {.what = to_string(node), .reads = {}, .writes = {}, .run = {}}, std::move(plan),
                {way.in, out, tail.add});
}

void lower_byte_conv(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  const ConvShape shape = conv_shape(builder, node);
  const WordWindow window = word_window(builder, node, shape);
  ByteWay way{.in = window.in,
              .read = window.read,
              .taps = window.taps,
              .axis = 1,
              .groups = shape.groups,
              .kind = WeightKind::kConv};
  if (node.inputs.size() > 2) way.bias = node.inputs[2];
  add_bytes(builder, node, way, word_tail(builder, number, 1));
}

void lower_byte_product(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  LinearShape shape;
  linear_shape(builder, node, shape);
  const int64_t axis = builder.last_axis(node.inputs[0]);
  ByteWay way{.in = builder.words(node.inputs[0], axis),
              .read = builder.word_planes(node.inputs[0], axis),
              .taps = {0},
              .axis = axis,
              .groups = 1,
              .kind = shape.kind,
              .bias = shape.bias};
  int32_t last = number;
  if (node.op == "MatMul") way.bias = bias_behind(builder, node.outputs[0], last);
  add_bytes(builder, node, way, word_tail(builder, last, axis));
}

}  // namespace

bool plans_bytes(Builder& builder, const Node& node) {
  const WeightOf weight = byte_weight_of(builder.graph(), node);
  if (weight.tensor == nullptr || builder.bytes(node.inputs[0]) == nullptr) return false;
  if (node.op != "Conv") return plans_product(builder, node);
  if (!plans_conv_of_words(builder, node)) return false;
  // Floats of a strided convolution are sorted from where they are; words lie in planes first.
  const Dims& dims = builder.spec(node.inputs[0]).dims;
  builder.pitches().add(node.inputs[0], dims[2], dims[3]);
  return true;
}

void lower_bytes(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  node.op == "Conv" ? lower_byte_conv(builder, number) : lower_byte_product(builder, number);
}

}  // namespace hewn::flow
