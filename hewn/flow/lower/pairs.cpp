// Convolutions and products of bf16, on planes of pairs.
#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/flow/bf16/halve.h"
#include "hewn/flow/lower/product.h"
#include "hewn/flow/lower/word_steps.h"
#include "hewn/kernels/bf16/pair_planes.h"

namespace hewn::flow {
namespace {

using kernels::PairProduct;

/// One group of a product: its weight and the numbers around it.
struct PairGroup {
  const kernels::MatrixWeight* weight;
  std::vector<int32_t> offsets;
  std::vector<float> bias;
  int64_t in = 0;   // words from the first group's
  int64_t out = 0;  // outputs from the first group's
};

/// A product whose memory is not known yet.
struct PairPlan {
  PairProduct product;
  int64_t columns = 0;
  int64_t in_lead = 0;
  int64_t out_lead = 0;
  bool floats = false;
  bool one = false;  // a single column
  std::vector<PairGroup> groups;
};

/// The product from pairs at `in`, lying in `read`, to the planes of what comes behind it.
struct PairWay {
  WordWindow window;
  int64_t axis = 1;
  int64_t groups = 1;
  WeightKind kind = WeightKind::kConv;
  int32_t bias = kNone;
};

std::vector<PairGroup> pair_groups(const PairWeights& weights, const PairWay& way, const float* bias) {
  std::vector<PairGroup> out;
  int64_t first = 0;
  int64_t in = 0;
  for (const kernels::MatrixWeight& weight : weights) {
    PairGroup group{
        &weight, kernels::matrix_offsets(weight, way.window.taps, way.window.read.stride), {}, in, first};
    group.bias.assign(static_cast<size_t>(weight.outputs()) + 16, 0.0F);
    if (bias != nullptr) std::copy_n(bias + first, weight.outputs(), group.bias.begin());
    first += weight.outputs();
    in += weight.tap_words() * way.window.read.stride;
    out.push_back(std::move(group));
  }
  return out;
}

void run_pair_group(const PairPlan& plan, const PairGroup& group, PairProduct product, int64_t part,
                    int64_t parts) {
  product.weight = group.weight;
  product.offsets = group.offsets.data();
  product.bias = group.bias.data();
  product.in += group.in;
  const int64_t row = group.out / kernels::kPairChannels * product.out_stride;
  if (plan.floats) product.out_floats += group.out * product.out_stride;
  if (!plan.floats) product.out += row;
  if (product.add != nullptr) product.add += row;
  const int64_t tiles = group.weight->tile_count();
  if (plan.one) {
    const Range range = share(tiles, part, parts);
    return kernels::multiply_pairs_of_one(product, range.begin, range.end);
  }
  constexpr int64_t kWidth = kernels::kMatrixColumns;
  const int64_t chunks = (plan.columns + kWidth - 1) / kWidth;
  if (parts == 1 || chunks >= 4 * parts) {
    const Range range = share(chunks, part, parts);
    return kernels::multiply_pairs(product, range.begin * kWidth, std::min(plan.columns, range.end * kWidth),
                                   0, tiles);
  }
  const Range range = share(tiles, part, parts);
  kernels::multiply_pairs(product, 0, plan.columns, range.begin, range.end);
}

/// Slots of one step.
struct PairSlots {
  int32_t in;
  int32_t out;
  int32_t add;
};

void add_pair_step(Builder& builder, Step step, std::shared_ptr<const PairPlan> plan,
                   const PairSlots& slots) {
  step.reads = {slots.in};
  step.writes = {slots.out};
  if (slots.add != kNone) step.reads.push_back(slots.add);
  for (const PairGroup& group : plan->groups) {
    step.work += kernels::kPairChannels * group.weight->words() * plan->columns / 2;
    step.weights += group.weight->words() * static_cast<int64_t>(sizeof(uint32_t));
  }
  step.run = [plan = std::move(plan), slots](const Memory& memory, int64_t part, int64_t parts) {
    PairProduct product = plan->product;
    product.in = static_cast<const uint32_t*>(memory.at(slots.in)) + plan->in_lead;
    if (plan->floats) product.out_floats = memory.floats(slots.out) + plan->out_lead;
    if (!plan->floats) product.out = static_cast<uint32_t*>(memory.at(slots.out)) + plan->out_lead;
    if (slots.add != kNone) {
      product.add = static_cast<const uint32_t*>(memory.at(slots.add)) + plan->out_lead;
    }
    for (const PairGroup& group : plan->groups) run_pair_group(*plan, group, product, part, parts);
  };
  builder.add(std::move(step));
}

void add_pairs(Builder& builder, const Node& node, const PairWay& way, const WordTail& tail) {
  const bool floats = !builder.halves(tail.value);
  const int32_t out =
      floats ? builder.new_rows(tail.value, way.axis) : builder.new_words(tail.value, way.axis);
  const Planes to = builder.planes(tail.value, way.axis);
  const Tensor& tensor = *builder.constant(node.inputs[1]);
  const auto weights = builder.pair_weights(tensor, way.kind, way.groups);
  const float* bias = way.bias == kNone ? nullptr : builder.constant(way.bias)->values<float>().data();
  auto plan = std::make_shared<PairPlan>();
  plan->groups = pair_groups(*weights, way, bias);
  plan->columns = to.columns();
  plan->in_lead = way.window.read.lead;
  plan->out_lead = to.lead;
  plan->floats = floats;
  plan->one = to.columns() == 1 && way.window.read.stride == 1 && to.stride == 1;
  plan->product.machine = kernels::pair_machine();
  plan->product.in_stride = way.window.read.stride;
  plan->product.out_stride = to.stride;
  plan->product.relu = tail.relu;
  builder.plan.kept.push_back(weights);
  double kept = 0;
  for (const kernels::MatrixWeight& weight : *weights) {
    kept += static_cast<double>(kernels::kPairChannels * weight.words());
  }
  const double all = static_cast<double>(std::max<int64_t>(tensor.elements(), 1));
  Step step{.what = to_string(node), .reads = {}, .writes = {}, .run = {}};
  step.what += str(": bf16, ", std::lround(100 * kept / all), " % multiplied");
  add_pair_step(builder, std::move(step), std::move(plan), {way.window.in, out, tail.add});
}

void lower_pair_conv(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  const ConvShape shape = conv_shape(builder, node);
  PairWay way{.window = word_window(builder, node, shape),
              .axis = 1,
              .groups = shape.groups,
              .kind = WeightKind::kConv};
  if (node.inputs.size() > 2) way.bias = node.inputs[2];
  add_pairs(builder, node, way, word_tail(builder, number, 1));
}

void lower_pair_product(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  LinearShape shape;
  linear_shape(builder, node, shape);
  const int64_t axis = builder.last_axis(node.inputs[0]);
  PairWay way{.window = {.in = builder.words(node.inputs[0], axis),
                         .read = builder.word_planes(node.inputs[0], axis),
                         .taps = {0}},
              .axis = axis,
              .groups = 1,
              .kind = shape.kind,
              .bias = shape.bias};
  int32_t last = number;
  if (node.op == "MatMul") way.bias = bias_behind(builder, node.outputs[0], last);
  add_pairs(builder, node, way, word_tail(builder, last, axis));
}

}  // namespace

bool plans_pairs(Builder& builder, const Node& node) {
  if (node.inputs.size() < 2 || node.inputs[0] == kNone || !builder.halves(node.inputs[0])) return false;
  if (half_weight_of(builder.graph(), node).tensor == nullptr) return false;
  if (node.op != "Conv") return plans_product(builder, node);
  if (!plans_conv_of_words(builder, node)) return false;
  // Floats of a strided convolution are sorted from where they are; pairs lie in planes first.
  const Dims& dims = builder.spec(node.inputs[0]).dims;
  builder.pitches().add(node.inputs[0], dims[2], dims[3]);
  return true;
}

void lower_pairs(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  node.op == "Conv" ? lower_pair_conv(builder, number) : lower_pair_product(builder, number);
}

}  // namespace hewn::flow
