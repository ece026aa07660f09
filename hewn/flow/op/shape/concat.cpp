#include <utility>

#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

size_t concat_axis(const Call& call) {
  if (!call.node->has("axis")) throw call.bad("has no axis");
  return static_cast<size_t>(from_front(call, call.node->integer("axis", 0), call.rank(0)));
}

std::vector<Spec> infer_concat(const Call& call) {
  const size_t axis = concat_axis(call);
  Spec out = call.spec(0);
  for (size_t i = 1; i < call.in.size(); ++i) {
    call.expect(i, out.type);
    const Dims& next = call.dims(i);
    const int64_t before = std::exchange(out.dims[axis], axis < next.size() ? next[axis] : 0);
    if (next != out.dims) throw call.bad(str(to_string(next), " does not fit ", to_string(call.dims(0))));
    out.dims[axis] += before;
  }
  return {out};
}

void run_concat(const Call& call) {
  const size_t axis = concat_axis(call);
  const Dims& dims = call.out[0].spec.dims;
  const Steps strides = strides_of(dims);
  auto* to = static_cast<std::byte*>(call.out[0].data);
  for (const View* part : call.in) {
    copy(call.type(0), part->spec.dims, {part->data, strides_of(part->spec.dims)}, {to, strides});
    to += static_cast<size_t>(part->spec.dims[axis] * strides[axis]) * size_of(call.type(0));
  }
}

}  // namespace

constinit const Operator op::kConcat = {
    .name = "Concat", .most_inputs = kAnyNumber, .infer = infer_concat, .run = run_concat};

}  // namespace hewn::flow
