#include "hewn/flow/lower/fuse.h"

#include "hewn/flow/lower/functions.h"

namespace hewn::flow {

Fused take_along(Builder& builder, int32_t number, int64_t axis) {
  const Graph& graph = builder.graph();
  const auto node = [&](int32_t i) -> const Node& { return graph.nodes[static_cast<size_t>(i)]; };
  Fused out{node(number).outputs[0]};
  const auto free_reader = [&](int32_t value) {
    const int32_t reader = builder.only_reader(value);
    return reader == kNone || builder.done[static_cast<size_t>(reader)] ? kNone : reader;
  };
  int32_t next = free_reader(out.value);
  if (next != kNone && node(next).op == "Add") {
    const auto& sides = node(next).inputs;
    const int32_t other = sides[0] == out.value ? sides[1] : sides[0];
    const int32_t sum = node(next).outputs[0];
    // What is added must be there already, in the same places.
    if (other != out.value && builder.in_planes(other, axis) &&
        builder.spec(other) == builder.spec(out.value) &&
        builder.planes(other, axis) == builder.planes(out.value, axis)) {
      out.add = builder.rows(other, axis);
      out.over = builder.last_read(other, out.add, next);
      out.value = sum;
      builder.done[static_cast<size_t>(next)] = true;
      next = free_reader(sum);
    }
  }
  if (const int32_t end = silu_end(builder, out.value); end != kNone && builder.uses(out.value) == 2) {
    for (const int32_t side : node(end).inputs) {
      if (side != out.value) builder.done[static_cast<size_t>(builder.maker(side))] = true;
    }
    out.then = silu();
    next = end;
  } else {
    if (next == kNone || node(next).inputs[0] != out.value) return out;
    const bool relu = node(next).op == "Relu";
    const auto function = relu ? std::nullopt : function_of(builder, node(next));
    if (!relu && !function) return out;
    out.relu = relu;
    if (function) out.then = *function;
  }
  out.value = node(next).outputs[0];
  builder.done[static_cast<size_t>(next)] = true;
  return out;
}

int32_t result_rows(Builder& builder, const Fused& fused, int64_t axis) {
  // A single column is multiplied by a kernel of its own, which adds last.
  if (!fused.over || builder.planes(fused.value, axis).columns() == 1)
    return builder.new_rows(fused.value, axis);
  return builder.rows_over(fused.value, axis, fused.add);
}

}  // namespace hewn::flow
