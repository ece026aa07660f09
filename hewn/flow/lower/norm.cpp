// Normalisations: of the numbers of a token over its channels, and of channels by constants.
#include <cmath>

#include "hewn/flow/builder.h"
#include "hewn/kernels/vector_math.h"

namespace hewn::flow {
namespace {

bool constant_vector(const Builder& builder, const Node& node, size_t input, int64_t length) {
  const Tensor* tensor = input < node.inputs.size() && node.inputs[input] != kNone
                             ? builder.constant(node.inputs[input])
                             : nullptr;
  return tensor != nullptr && tensor->type() == Type::kFloat && tensor->elements() == length;
}

bool normalises_tokens(const Builder& builder, const Node& node) {
  if (node.op != "LayerNormalization") return false;
  const int32_t x = node.inputs[0];
  const int64_t rank = builder.rank(x);
  const int64_t axis = node.integer("axis", -1);
  if (rank < 2 || (axis != -1 && axis != rank - 1) || builder.spec(x).elements() == 0) return false;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNone && builder.uses(node.outputs[i]) > 0) return false;
  }
  const int64_t channels = builder.spec(x).dims.back();
  const bool shifted = node.inputs.size() > 2 && node.inputs[2] != kNone;
  return constant_vector(builder, node, 1, channels) &&
         (!shifted || constant_vector(builder, node, 2, channels));
}

bool normalises_channels(const Builder& builder, const Node& node) {
  if (node.op != "BatchNormalization" || node.integer("training_mode", 0) != 0) return false;
  if (builder.rank(node.inputs[0]) != 4 || builder.marked(node.inputs[0]) != 1) return false;
  for (size_t i = 1; i < 5; ++i) {
    if (!constant_vector(builder, node, i, builder.spec(node.inputs[0]).dims[1])) return false;
  }
  return true;
}

void lower_layer_norm(Builder& builder, const Node& node) {
  const int32_t x = node.inputs[0];
  const int64_t axis = builder.last_axis(x);
  const int32_t in = builder.rows(x, axis);
  const bool over = builder.free_after(x, in);
  const int32_t out = over ? in : builder.new_rows(node.outputs[0], axis);
  if (over) builder.same_rows(node.outputs[0], axis, in);
  const Planes planes = builder.planes(x, axis);
  const Tensor& scale = *builder.constant(node.inputs[1]);
  builder.plan.constants.push_back(scale);
  kernels::ColumnNorm norm{planes.channels, planes.stride, scale.values<float>().data(), nullptr,
                           node.number("epsilon", 1e-5F)};
  if (node.inputs.size() > 2 && node.inputs[2] != kNone) {
    builder.plan.constants.push_back(*builder.constant(node.inputs[2]));
    norm.shift = builder.constant(node.inputs[2])->values<float>().data();
  }
  // Threads share whole vectors of columns, so that where a column lies in one does not depend on them.
  const int64_t vectors = (planes.columns() + 15) / 16;
  builder.add({.what = to_string(node),
               .reads = {in},
               .writes = {out},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const Range range = share(vectors, part, parts);
                     const int64_t end = std::min(planes.columns(), range.end * 16);
                     kernels::normalise_columns(norm, memory.floats(in) + planes.lead + range.begin * 16,
                                                memory.floats(out) + planes.lead + range.begin * 16,
                                                end - range.begin * 16);
                   },
               .work = 6 * planes.floats()});
}

void lower_batch_norm(Builder& builder, const Node& node) {
  const int32_t x = node.inputs[0];
  const int32_t in = builder.rows(x, 1);
  const int32_t out = builder.new_rows(node.outputs[0], 1);
  const Planes planes = builder.planes(x, 1);
  auto factors = std::make_shared<std::vector<float>>();
  auto shifts = std::make_shared<std::vector<float>>();
  for (size_t c = 0; c < static_cast<size_t>(planes.channels); ++c) {
    const auto of = [&](size_t input) { return builder.constant(node.inputs[input])->values<float>()[c]; };
    factors->push_back(of(1) / std::sqrt(of(4) + node.number("epsilon", 1e-5F)));
    shifts->push_back(of(2) - of(3) * factors->back());
  }
  builder.add({.what = to_string(node),
               .reads = {in},
               .writes = {out},
               .run =
                   [=](const Memory& memory, int64_t part, int64_t parts) {
                     const Range channels = share(planes.channels, part, parts);
                     for (int64_t c = channels.begin; c < channels.end; ++c) {
                       const int64_t at = c * planes.stride + planes.lead;
                       float* result = memory.floats(out) + at;
                       kernels::combine(kernels::Pair::kMul, memory.floats(in) + at, 1,
                                        &(*factors)[static_cast<size_t>(c)], 0, result, planes.columns());
                       kernels::combine(kernels::Pair::kAdd, result, 1, &(*shifts)[static_cast<size_t>(c)], 0,
                                        result, planes.columns());
                     }
                   },
               .work = 2 * planes.floats()});
}

}  // namespace

bool plans_norm(Builder& builder, const Node& node) {
  if (normalises_tokens(builder, node)) {
    builder.mark(node.outputs[0], builder.last_axis(node.outputs[0]));
    return true;
  }
  if (!normalises_channels(builder, node)) return false;
  builder.mark(node.outputs[0], 1);
  builder.pitches().join(node.inputs[0], node.outputs[0]);
  return true;
}

void lower_norm(Builder& builder, int32_t number) {
  const Node& node = builder.graph().nodes[static_cast<size_t>(number)];
  node.op == "LayerNormalization" ? lower_layer_norm(builder, node) : lower_batch_norm(builder, node);
}

}  // namespace hewn::flow
