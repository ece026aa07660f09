#include "hewn/flow/op/numbers.h"
#include "hewn/flow/op/reduce/lanes.h"

namespace hewn::flow {
namespace {

std::vector<Spec> infer_cum_sum(const Call& call) {
  call.expect_number(0);
  call.expect(1, Type::kInt);
  call.expect_one(1);
  return {call.spec(0)};
}

template <class T>
void cum_sum_of(const Call& call) {
  const Lanes lanes = lanes_of(call.dims(0), from_front(call, call.values<int64_t>(1)[0], call.rank(0)));
  const bool exclusive = call.node->integer("exclusive", 0) != 0;
  const bool reverse = call.node->integer("reverse", 0) != 0;
  const T* in = call.values<T>(0).data();
  T* out = call.result<T>(0).data();
  if (call.spec(0).elements() == 0) return;
  for (int64_t lane = 0; lane < lanes.number(); ++lane) {
    T sum = 0;
    for (int64_t i = 0; i < lanes.length; ++i) {
      const int64_t at = lanes.begin(lane) + (reverse ? lanes.length - 1 - i : i) * lanes.step;
      const T next = plus(sum, in[at]);
      out[at] = exclusive ? sum : next;
      sum = next;
    }
  }
}

void run_cum_sum(const Call& call) {
  call.type(0) == Type::kFloat ? cum_sum_of<float>(call) : cum_sum_of<int64_t>(call);
}

}  // namespace

constinit const Operator op::kCumSum = {
    .name = "CumSum", .least_inputs = 2, .most_inputs = 2, .infer = infer_cum_sum, .run = run_cum_sum};

}  // namespace hewn::flow
