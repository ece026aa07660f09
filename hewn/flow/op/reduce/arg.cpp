#include <utility>

#include "hewn/flow/op/reduce/lanes.h"

namespace hewn::flow {
namespace {

int64_t arg_axis(const Call& call) { return from_front(call, call.node->integer("axis", 0), call.rank(0)); }

std::vector<Spec> infer_arg(const Call& call) {
  call.expect_number(0);
  const int64_t axis = arg_axis(call);
  Dims dims = call.dims(0);
  if (std::exchange(dims[static_cast<size_t>(axis)], 1) == 0) throw call.bad("the axis is empty");
  if (call.node->integer("keepdims", 1) == 0) dims.erase(dims.begin() + axis);
  return {{Type::kInt, dims}};
}

/// Where the best of each lane is; of equal ones the first, or the last.
template <class T, class Better>
void best_of(const Call& call, const Better& better) {
  const Lanes lanes = lanes_of(call.dims(0), arg_axis(call));
  static const std::string kSelectLast = "select_last_index";  // too long to be made without memory
  const bool last = call.node->integer(kSelectLast, 0) != 0;
  const T* in = call.values<T>(0).data();
  const auto out = call.result<int64_t>(0);
  for (int64_t lane = 0; lane < lanes.number(); ++lane) {
    const T* from = in + lanes.begin(lane);
    int64_t best = 0;
    for (int64_t i = 1; i < lanes.length; ++i) {
      const T x = from[i * lanes.step];
      const T y = from[best * lanes.step];
      if (better(x, y) || (last && x == y)) best = i;
    }
    out[static_cast<size_t>(lane)] = best;
  }
}

void run_arg_max(const Call& call) {
  const auto better = [](auto x, auto y) { return x > y; };
  call.type(0) == Type::kFloat ? best_of<float>(call, better) : best_of<int64_t>(call, better);
}

void run_arg_min(const Call& call) {
  const auto better = [](auto x, auto y) { return x < y; };
  call.type(0) == Type::kFloat ? best_of<float>(call, better) : best_of<int64_t>(call, better);
}

}  // namespace

constinit const Operator op::kArgMax = {.name = "ArgMax", .infer = infer_arg, .run = run_arg_max};
constinit const Operator op::kArgMin = {.name = "ArgMin", .infer = infer_arg, .run = run_arg_min};

}  // namespace hewn::flow
