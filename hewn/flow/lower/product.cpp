#include "hewn/flow/lower/product.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"
#include "hewn/flow/lower/fuse.h"
#include "hewn/kernels/multiply.h"

namespace hewn::flow {
namespace {

/// Runs for the columns up to `last`, behind those of the ones before.
struct StripRuns {
  int64_t last;
  kernels::PlaneRuns runs;
};

/// What one group of a product needs.
struct Group {
  const kernels::Packed* weight;
  std::vector<StripRuns> strips;
  int64_t channels;
  int64_t first_channel;
  int64_t first_output;
};

/// Calls body(begin, end) for ranges of tiles of the outputs [from, to): tiles of a long input lie apart.
template <class Body>
void each_tile_range(const kernels::Packed& weight, int64_t from, int64_t to, const Body& body) {
  const auto& tiles = weight.tiles();
  const auto inside = [&](int64_t i) {
    const int64_t output = tiles[static_cast<size_t>(i)].output;
    return output >= from && output < to;
  };
  for (int64_t begin = 0; begin < weight.tile_count();) {
    if (!inside(begin)) {
      ++begin;
      continue;
    }
    int64_t end = begin + 1;
    while (end < weight.tile_count() && inside(end)) ++end;
    body(begin, end);
    begin = end;
  }
}

/// Of a single column, for the tiles that begin in the range.
void activate_outputs(const kernels::PlaneProduct& product, const kernels::Packed& weight,
                      const Range& range) {
  if (!product.then.on) return;
  for (const kernels::Packed::Tile& tile : weight.tiles()) {
    if (!tile.last || tile.output < range.begin || tile.output >= range.end) continue;
    float* out = product.out + tile.output;
    kernels::apply(product.then.function, product.then.a, product.then.b, out, out, tile.outputs);
  }
}

/// The columns [first, last) and tiles [begin, end).
void run_strips(const Group& group, kernels::PlaneProduct product, const Range& columns, const Range& tiles) {
  int64_t from = columns.begin;
  for (const StripRuns& strip : group.strips) {
    const int64_t to = std::min(columns.end, strip.last);
    if (from >= to) continue;
    product.runs = &strip.runs;
    kernels::multiply_planes(product, from, to, tiles.begin, tiles.end);
    from = to;
  }
}

void run_group(const Group& group, const ProductPlan& plan, int64_t part, int64_t parts) {
  kernels::PlaneProduct product = plan.product;
  product.weight = group.weight;
  product.channels = group.channels;
  product.in += group.first_channel * product.in_stride;
  product.out += group.first_output * product.out_stride;
  if (product.add != nullptr) product.add += group.first_output * product.out_stride;
  if (product.bias != nullptr) product.bias += group.first_output;
  const int64_t width = kernels::machine().strip_width;
  const int64_t chunks = (plan.columns + width - 1) / width;
  const int64_t outputs = group.weight->outputs();
  if (plan.columns == 1 && product.in_stride == 1 && product.out_stride == 1) {
    const kernels::Epilogue epilogue{product.bias, product.add, product.relu};
    const Range range = share(outputs, part, parts);
    each_tile_range(*group.weight, range.begin, range.end, [&](int64_t begin, int64_t end) {
      kernels::multiply_one(*group.weight, product.in, product.out, epilogue, begin, end);
    });
    return activate_outputs(product, *group.weight, range);
  }
  if (parts == 1 || chunks >= 4 * parts) {
    const Range range = share(chunks, part, parts);
    const Range columns{range.begin * width, std::min(plan.columns, range.end * width)};
    return run_strips(group, product, columns, {0, group.weight->tile_count()});
  }
  const Range range = share(outputs, part, parts);
  each_tile_range(*group.weight, range.begin, range.end, [&](int64_t begin, int64_t end) {
    run_strips(group, product, {0, plan.columns}, {begin, end});
  });
}

}  // namespace

bool linear_shape(const Builder& builder, const Node& node, LinearShape& shape) {
  if (node.op != "MatMul" && node.op != "Gemm") return false;
  const int32_t x = node.inputs[0];
  const Tensor* weight = builder.constant(node.inputs[1]);
  if (builder.constant(x) != nullptr || builder.rank(x) < 2 || weight == nullptr ||
      weight->dims().size() != 2 || weight->type() != Type::kFloat ||
      builder.spec(node.outputs[0]).elements() == 0 || weight->elements() == 0) {
    return false;
  }
  if (node.op == "MatMul") return true;
  if (node.integer("transA", 0) != 0 || node.number("alpha", 1) != 1) return false;
  if (node.integer("transB", 0) != 0) shape.kind = WeightKind::kOutIn;
  if (node.inputs.size() < 3 || node.inputs[2] == kNone) return true;
  shape.bias = node.inputs[2];
  const Tensor* bias = builder.constant(shape.bias);
  return node.number("beta", 1) == 1 && bias != nullptr && bias->dims().size() <= 2 &&
         bias->elements() == builder.spec(node.outputs[0]).dims.back() &&
         bias->dims().back() == bias->elements();
}

int32_t bias_behind(Builder& builder, int32_t value, int32_t& made) {
  const int32_t next = builder.only_reader(value);
  if (next == kNone || builder.done[static_cast<size_t>(next)]) return kNone;
  const Node& node = builder.graph().nodes[static_cast<size_t>(next)];
  if (node.op != "Add") return kNone;
  const int32_t other = node.inputs[0] == value ? node.inputs[1] : node.inputs[0];
  const Tensor* bias = builder.constant(other);
  if (bias == nullptr || bias->dims().empty() || bias->elements() != builder.spec(value).dims.back() ||
      bias->dims().back() != bias->elements() || builder.spec(node.outputs[0]) != builder.spec(value)) {
    return kNone;
  }
  builder.done[static_cast<size_t>(next)] = true;
  made = next;
  return other;
}

namespace {

/// The last of the nodes behind one that give its tokens another shape only; they are then done.
int32_t last_shape_behind(Builder& builder, int32_t number) {
  const auto& nodes = builder.graph().nodes;
  while (true) {
    const int32_t next = builder.only_reader(nodes[static_cast<size_t>(number)].outputs[0]);
    if (next == kNone || builder.done[static_cast<size_t>(next)] ||
        !keeps_tokens(builder, nodes[static_cast<size_t>(next)])) {
      return number;
    }
    builder.done[static_cast<size_t>(next)] = true;
    number = next;
  }
}

constexpr double kGathersSave = 0.2;  // of the time, at most

/// Share of the products that strips leave out.
double left_out(const ProductOf& what, int64_t columns) {
  if (what.strips.empty()) return 0;
  const auto taps = static_cast<int64_t>(what.taps.size());
  int64_t needed = 0;
  int64_t from = 0;
  for (const Strip& strip : what.strips) {
    const int64_t wanted = std::min(taps, strip.needed.last) - strip.needed.first;
    needed += std::max<int64_t>(0, wanted) * (strip.last - from);
    from = strip.last;
  }
  return 1 - static_cast<double>(needed) / static_cast<double>(taps * columns);
}

/// Where rows are gathered first, all of them are: one strip, unless several leave out more than that saves.
std::vector<StripRuns> strip_runs(const kernels::Packed& weight, int64_t channels, const ProductPlan& plan,
                                  const ProductOf& what) {
  const auto runs = [&](kernels::TapRange needed) {
    return kernels::plane_runs(weight, channels, what.taps, plan.product.in_stride, needed);
  };
  std::vector<StripRuns> out = {{plan.columns, runs(kernels::kAllTaps)}};
  const double saved = left_out(what, plan.columns);
  if (saved == 0 || (saved < kGathersSave && out[0].runs.gathers)) return out;
  out.clear();
  for (const Strip& strip : what.strips) out.push_back({strip.last, runs(strip.needed)});
  return out;
}

}  // namespace

void add_products(Builder& builder, Step step, const ProductPlan& plan, const ProductOf& what) {
  auto groups = std::make_shared<std::vector<Group>>();
  const Weight& weight = *what.weight;
  for (size_t g = 0; g < weight.groups.size(); ++g) {
    const kernels::Packed& packed = weight.groups[g];
    const auto at = static_cast<int64_t>(g);
    groups->push_back({&packed, strip_runs(packed, weight.channels, plan, what), weight.channels,
                       at * weight.channels, at * packed.outputs()});
    step.work += packed.products() * plan.columns;
    step.weights += packed.products() * static_cast<int64_t>(sizeof(float));
  }
  builder.plan.kept.push_back(what.weight);
  if (weight.block > 0) {
    step.what += str(": blocks of ", weight.block, ", ", std::lround(100 * weight.density), " % kept");
  }
  step.run = [groups, plan, what](const Memory& memory, int64_t part, int64_t parts) {
    const ProductPlan here = plan.at(memory, what.in, what.out, what.add);
    for (const Group& group : *groups) run_group(group, here, part, parts);
  };
  builder.add(std::move(step));
}

bool plans_product(Builder& builder, const Node& node) {
  LinearShape shape;
  if (!linear_shape(builder, node, shape)) return false;
  const int32_t out = node.outputs[0];
  builder.mark(out, builder.last_axis(out));
  return true;
}

void lower_product(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  LinearShape shape;
  linear_shape(builder, node, shape);
  const int32_t x = node.inputs[0];
  const int64_t axis = builder.last_axis(x);
  const int32_t in = builder.rows(x, axis);
  int32_t last = number;
  int32_t bias = shape.bias;
  if (node.op == "MatMul") bias = bias_behind(builder, node.outputs[0], last);
  last = last_shape_behind(builder, last);
  const int64_t out_axis = builder.last_axis(builder.graph().nodes[static_cast<size_t>(last)].outputs[0]);
  const Fused fused = take_along(builder, last, out_axis);
  const Planes in_planes = builder.planes(x, axis);
  const int32_t out = result_rows(builder, fused, out_axis);
  const Planes out_planes = builder.planes(fused.value, out_axis);
  Step step{.what = to_string(node), .reads = {in}, .writes = {out}, .run = {}};
  if (fused.add != kNone) step.reads.push_back(fused.add);
  ProductPlan plan{
      .product = {}, .columns = out_planes.columns(), .in_lead = in_planes.lead, .out_lead = out_planes.lead};
  plan.product.in_stride = in_planes.stride;
  plan.product.out_stride = out_planes.stride;
  plan.product.relu = fused.relu;
  plan.product.then = fused.then;
  if (bias != kNone) {
    builder.plan.constants.push_back(*builder.constant(bias));
    plan.product.bias = builder.constant(bias)->values<float>().data();
  }
  const Tensor& tensor = *builder.constant(node.inputs[1]);
  add_products(builder, std::move(step), plan,
               {builder.weight(tensor, shape.kind, 1), {0}, in, out, fused.add});
}

}  // namespace hewn::flow
