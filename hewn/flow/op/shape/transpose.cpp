#include <numeric>

#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

std::vector<int64_t> permutation_of(const Call& call) {
  const int64_t rank = call.rank(0);
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.rbegin(), order.rend(), 0);
  order = call.node->integers("perm", order);
  if (static_cast<int64_t>(order.size()) != rank) throw call.bad("perm does not fit the input's dimensions");
  return from_front(call, order, rank);
}

std::vector<Spec> infer_transpose(const Call& call) {
  Spec out = {call.type(0), {}};
  for (const int64_t axis : permutation_of(call)) out.dims.push_back(call.dims(0)[static_cast<size_t>(axis)]);
  return {out};
}

void run_transpose(const Call& call) {
  const std::vector<int64_t> own = strides_of(call.dims(0));
  std::vector<int64_t> strides;
  for (const int64_t axis : permutation_of(call)) strides.push_back(own[static_cast<size_t>(axis)]);
  const View& out = call.out[0];
  copy(call.type(0), out.spec.dims, {call.at(0).data, strides}, {out.data, strides_of(out.spec.dims)});
}

}  // namespace

constinit const Operator op::kTranspose = {
    .name = "Transpose", .infer = infer_transpose, .run = run_transpose};

}  // namespace hewn::flow
