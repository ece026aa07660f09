// Functions of one number and of two, in planes or row-major: wherever their inputs lie.
#include <cmath>
#include <limits>
#include <optional>

#include "hewn/flow/builder.h"
#include "hewn/flow/lower/functions.h"
#include "hewn/kernels/vector_math.h"

namespace hewn::flow {
namespace {

using kernels::Activation;
using kernels::Pair;

std::optional<Pair> pair_of(const Node& node) {
  static const std::map<std::string, Pair> kPairs = {{"Add", Pair::kAdd}, {"Sub", Pair::kSub},
                                                     {"Mul", Pair::kMul}, {"Div", Pair::kDiv},
                                                     {"Max", Pair::kMax}, {"Min", Pair::kMin}};
  const auto found = kPairs.find(node.op);
  return found == kPairs.end() || node.inputs.size() != 2 ? std::nullopt : std::optional(found->second);
}

/// How a side of a pair takes part where the other lies in planes with this axis.
enum class Side { kSame, kNumber, kChannels, kImages, kNone };

Side side_of(const Builder& builder, int32_t value, const Dims& out, int64_t axis) {
  const Spec& spec = builder.spec(value);
  const Tensor* tensor = builder.constant(value);
  if (spec.type != Type::kFloat) return Side::kNone;
  if (tensor == nullptr && spec.dims == out) return Side::kSame;
  if (tensor != nullptr && spec.elements() == 1) return Side::kNumber;
  const int64_t rank = static_cast<int64_t>(out.size());
  const int64_t skip = rank - static_cast<int64_t>(spec.dims.size());
  if (skip < 0) return Side::kNone;
  const auto dim = [&](int64_t d) { return d < skip ? 1 : spec.dims[static_cast<size_t>(d - skip)]; };
  if (tensor != nullptr) {
    for (int64_t d = 0; d < rank; ++d) {
      if (dim(d) != (d == axis ? out[static_cast<size_t>(d)] : 1)) return Side::kNone;
    }
    return Side::kChannels;
  }
  const bool gates =
      rank == 4 && axis == 1 && dim(0) == out[0] && dim(1) == out[1] && dim(2) == 1 && dim(3) == 1;
  return gates ? Side::kImages : Side::kNone;
}

/// The axis of the planes in which the pair runs, -1 for row-major, -2 for not here.
int64_t pair_axis(const Builder& builder, const Node& node) {
  const Spec& out = builder.spec(node.outputs[0]);
  if (out.type != Type::kFloat || builder.spec(node.inputs[0]).type != Type::kFloat) return -2;
  for (const int32_t value : node.inputs) {
    const int64_t axis = builder.marked(value);
    if (axis < 0 || builder.spec(value).dims != out.dims) continue;
    const bool fit = side_of(builder, node.inputs[0], out.dims, axis) != Side::kNone &&
                     side_of(builder, node.inputs[1], out.dims, axis) != Side::kNone;
    if (fit) return axis;
  }
  const auto plain = [&](int32_t value) {
    return builder.spec(value).dims == out.dims || builder.spec(value).elements() == 1;
  };
  return plain(node.inputs[0]) && plain(node.inputs[1]) ? -1 : -2;
}

void add_unary(Builder& builder, const std::string& what, const Activation& unary, int32_t from, int32_t to) {
  const int64_t axis = builder.marked(from);
  const bool planes = axis >= 0;
  const int32_t in = planes ? builder.rows(from, axis) : builder.plain(from);
  const bool over = builder.free_after(from, in);
  const int32_t out = planes ? (over ? in : builder.new_rows(to, axis)) : (over ? in : builder.new_plain(to));
  if (over && planes) builder.same_rows(to, axis, in);
  if (over && !planes) builder.same_plain(to, in);
  const int64_t floats = planes ? builder.planes(from, axis).floats() : builder.spec(from).elements();
  float zero = 0;
  kernels::apply(unary.function, unary.a, unary.b, &zero, &zero, 1);
  builder.set_bordered(out, builder.slot(in).bordered && zero == 0);
  builder.add({.what = what,
               .reads = {in},
               .writes = {out},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const Range range = share(floats, part, parts);
                     kernels::apply(unary.function, unary.a, unary.b, memory.floats(in) + range.begin,
                                    memory.floats(out) + range.begin, range.end - range.begin);
                   },
               .work = 4 * floats});
}

/// One side's numbers for a channel and an image.
struct Operand {
  Side side;
  int32_t slot;
  Planes planes;  // kImages: its own

  /// `place` is where the output's numbers are behind its base.
  const float* at(const Memory& memory, int64_t channel, int64_t image, int64_t place, int64_t& step) const {
    const float* data = memory.floats(slot);
    step = side == Side::kSame ? 1 : 0;
    if (side == Side::kSame) return data + place;
    if (side == Side::kChannels) return data + channel;
    if (side == Side::kImages) return data + channel * planes.stride + planes.lead + image * planes.plane;
    return data;
  }
};

void add_pair_in_planes(Builder& builder, const Node& node, Pair pair, int64_t axis) {
  const int32_t to = node.outputs[0];
  const Planes planes = builder.planes(to, axis);
  std::vector<Operand> operands;
  std::vector<int32_t> reads;
  bool by_image = false;
  for (const int32_t value : node.inputs) {
    const Side side = side_of(builder, value, builder.spec(to).dims, axis);
    const bool rows = side == Side::kSame || side == Side::kImages;
    const int32_t slot = rows ? builder.rows(value, axis) : builder.plain(value);
    operands.push_back({side, slot, rows ? builder.planes(value, axis) : Planes{}});
    reads.push_back(slot);
    by_image = by_image || side == Side::kImages;
  }
  const bool over = operands[0].side == Side::kSame && builder.free_after(node.inputs[0], operands[0].slot) &&
                    node.inputs[0] != node.inputs[1];
  const int32_t out = over ? operands[0].slot : builder.new_rows(to, axis);
  if (over) builder.same_rows(to, axis, out);
  bool bordered = pair != Pair::kDiv;
  for (const Operand& operand : operands) {
    const bool zero = operand.side == Side::kSame && builder.slot(operand.slot).bordered;
    bordered = bordered && (zero || pair == Pair::kMul);
  }
  const bool any_zero = (operands[0].side == Side::kSame && builder.slot(operands[0].slot).bordered) ||
                        (operands[1].side == Side::kSame && builder.slot(operands[1].slot).bordered);
  // A zero times what is no number would not be zero.
  const bool same = operands[0].side == Side::kSame && operands[1].side == Side::kSame;
  builder.set_bordered(out, bordered && any_zero &&
                                (pair != Pair::kMul || (same && builder.slot(operands[0].slot).bordered &&
                                                        builder.slot(operands[1].slot).bordered)));
  const int64_t images = by_image ? planes.images : 1;
  const int64_t lines = by_image && planes.by_lines() ? planes.height : 1;
  const int64_t image = (planes.height - 1) * planes.line + planes.width;
  const int64_t count = lines > 1 ? planes.width : by_image ? image : planes.columns();
  builder.add({.what = to_string(node),
               .reads = reads,
               .writes = {out},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const Range channels = share(planes.channels, part, parts);
                     for (int64_t c = channels.begin; c < channels.end; ++c) {
                       for (int64_t i = 0; i < images * lines; ++i) {
                         const int64_t n = i / lines;
                         const int64_t place =
                             c * planes.stride + planes.lead + n * planes.plane + i % lines * planes.line;
                         int64_t x_step = 0;
                         int64_t y_step = 0;
                         const float* x = operands[0].at(memory, c, n, place, x_step);
                         const float* y = operands[1].at(memory, c, n, place, y_step);
                         kernels::combine(pair, x, x_step, y, y_step, memory.floats(out) + place, count);
                       }
                     }
                   },
               .work = planes.floats()});
}

void add_pair_plain(Builder& builder, const Node& node, Pair pair) {
  const int32_t x = builder.plain(node.inputs[0]);
  const int32_t y = builder.plain(node.inputs[1]);
  const int32_t out = builder.new_plain(node.outputs[0]);
  const int64_t count = builder.spec(node.outputs[0]).elements();
  const int64_t x_step = builder.spec(node.inputs[0]).elements() == 1 && count != 1 ? 0 : 1;
  const int64_t y_step = builder.spec(node.inputs[1]).elements() == 1 && count != 1 ? 0 : 1;
  builder.add({.what = to_string(node),
               .reads = {x, y},
               .writes = {out},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const Range range = share(count, part, parts);
                     kernels::combine(pair, memory.floats(x) + range.begin * x_step, x_step,
                                      memory.floats(y) + range.begin * y_step, y_step,
                                      memory.floats(out) + range.begin, range.end - range.begin);
                   },
               .work = count});
}

}  // namespace

bool plans_elementwise(Builder& builder, const Node& node) {
  if (function_of(builder, node)) {
    const int64_t axis = builder.marked(node.inputs[0]);
    if (axis >= 0) {
      builder.mark(node.outputs[0], axis);
      builder.pitches().join(node.inputs[0], node.outputs[0]);
    }
    return true;
  }
  if (!pair_of(node)) return false;
  const int64_t axis = pair_axis(builder, node);
  if (axis >= 0) {
    const int32_t out = node.outputs[0];
    builder.mark(out, axis);
    for (const int32_t value : node.inputs) {
      if (side_of(builder, value, builder.spec(out).dims, axis) != Side::kSame) continue;
      const Dims& dims = builder.spec(value).dims;
      if (axis == 1 && dims.size() == 4) builder.pitches().add(value, dims[2], dims[3]);
      builder.pitches().join(value, out);
    }
  }
  return axis > -2;
}

void lower_elementwise(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  if (const auto unary = function_of(builder, node)) {
    const int32_t product = node.op == "Sigmoid" ? silu_end(builder, node.inputs[0]) : kNone;
    if (product == kNone || builder.only_reader(node.outputs[0]) != product)
      return add_unary(builder, to_string(node), *unary, node.inputs[0], node.outputs[0]);
    builder.done[static_cast<size_t>(product)] = true;
    const Node& end = builder.graph().nodes[static_cast<size_t>(product)];
    return add_unary(builder, to_string(end), silu(), node.inputs[0], end.outputs[0]);
  }
  const Pair pair = *pair_of(node);
  const int64_t axis = pair_axis(builder, node);
  axis >= 0 ? add_pair_in_planes(builder, node, pair, axis) : add_pair_plain(builder, node, pair);
}

}  // namespace hewn::flow
