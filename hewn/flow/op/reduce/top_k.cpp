#include <algorithm>
#include <numeric>

#include "hewn/flow/op/reduce/lanes.h"

namespace hewn::flow {
namespace {

int64_t top_k_axis(const Call& call) {
  return from_front(call, call.node->integer("axis", -1), call.rank(0));
}

std::vector<Spec> infer_top_k(const Call& call) {
  call.expect_number(0);
  call.expect_one(1);
  const auto axis = static_cast<size_t>(top_k_axis(call));
  const int64_t k = call.values<int64_t>(1)[0];
  if (k < 0 || k > call.dims(0)[axis]) throw call.bad(str("cannot choose ", k, " of ", call.dims(0)[axis]));
  Dims dims = call.dims(0);
  dims[axis] = k;
  return {{call.type(0), dims}, {Type::kInt, dims}};
}

/// Whether x comes before y. What is not a number counts as largest, so that there is an order.
template <class T>
bool comes_before(T x, T y, bool largest) {
  const bool above = x > y || (x != x && y == y);
  const bool below = x < y || (x == x && y != y);
  return largest ? above : below;
}

template <class T>
void top_k_of(const Call& call) {
  const Lanes lanes = lanes_of(call.dims(0), top_k_axis(call));
  const Lanes chosen = lanes_of(call.out[0].spec.dims, top_k_axis(call));
  const bool largest = call.node->integer("largest", 1) != 0;
  const T* in = call.values<T>(0).data();
  std::vector<int64_t> order(static_cast<size_t>(lanes.length));
  if (chosen.length == 0) return;
  for (int64_t lane = 0; lane < lanes.number(); ++lane) {
    const T* from = in + lanes.begin(lane);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + chosen.length, order.end(), [&](int64_t a, int64_t b) {
      const T x = from[a * lanes.step];
      const T y = from[b * lanes.step];
      return comes_before(x, y, largest) || (!comes_before(y, x, largest) && a < b);
    });
    for (int64_t i = 0; i < chosen.length; ++i) {
      const auto at = static_cast<size_t>(chosen.begin(lane) + i * chosen.step);
      const int64_t index = order[static_cast<size_t>(i)];
      if (call.wanted(0)) call.result<T>(0)[at] = from[index * lanes.step];
      if (call.wanted(1)) call.result<int64_t>(1)[at] = index;
    }
  }
}

void run_top_k(const Call& call) {
  call.type(0) == Type::kFloat ? top_k_of<float>(call) : top_k_of<int64_t>(call);
}

}  // namespace

constinit const Operator op::kTopK = {
    .name = "TopK", .least_inputs = 2, .most_inputs = 2, .infer = infer_top_k, .run = run_top_k};

}  // namespace hewn::flow
