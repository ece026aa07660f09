#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

Steps permutation_of(const Call& call) {
  const int64_t rank = call.rank(0);
  Steps order;
  if (const auto* given = call.node->list("perm"); given != nullptr) {
    order = *given;
  } else {
    for (int64_t axis = rank; axis-- > 0;) order.push_back(axis);
  }
  if (static_cast<int64_t>(order.size()) != rank) throw call.bad("perm does not fit the input's dimensions");
  return from_front(call, order, rank);
}

std::vector<Spec> infer_transpose(const Call& call) {
  Spec out = {call.type(0), {}};
  for (const int64_t axis : permutation_of(call)) out.dims.push_back(call.dims(0)[static_cast<size_t>(axis)]);
  return {out};
}

void run_transpose(const Call& call) {
  const Steps own = strides_of(call.dims(0));
  Steps strides;
  for (const int64_t axis : permutation_of(call)) strides.push_back(own[static_cast<size_t>(axis)]);
  const View& out = call.out[0];
  copy(call.type(0), out.spec.dims, {call.at(0).data, strides}, {out.data, strides_of(out.spec.dims)});
}

}  // namespace

constinit const Operator op::kTranspose = {
    .name = "Transpose", .infer = infer_transpose, .run = run_transpose};

}  // namespace hewn::flow
