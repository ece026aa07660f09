#include "hewn/flow/op/elementwise/elementwise.h"

namespace hewn::flow {
namespace {

std::vector<Spec> infer_where(const Call& call) {
  call.expect(0, Type::kBool);
  call.expect(2, call.type(1));
  return {{call.type(1), broadcast(call, call.dims(0), broadcast(call, call.dims(1), call.dims(2)))}};
}

template <class T>
void where_of(const Call& call) {
  const auto condition = call.values<bool>(0);
  const auto a = call.values<T>(1);
  const auto b = call.values<T>(2);
  const auto out = call.result<T>(0);
  const Dims& dims = call.out[0].spec.dims;
  each_run<3>(
      dims, {strides_in(call.dims(0), dims), strides_in(call.dims(1), dims), strides_in(call.dims(2), dims)},
      [&](int64_t at, const auto& offset, int64_t length, const auto& step) {
        const bool* first = condition.data() + offset[0];
        const T* x = a.data() + offset[1];
        const T* y = b.data() + offset[2];
        for (int64_t i = 0; i < length; ++i) {
          out[static_cast<size_t>(at + i)] = first[i * step[0]] ? x[i * step[1]] : y[i * step[2]];
        }
      });
}

void run_where(const Call& call) {
  with_type(call.type(1), [&](auto element) { where_of<decltype(element)>(call); });
}

}  // namespace

constinit const Operator op::kWhere = {
    .name = "Where", .least_inputs = 3, .most_inputs = 3, .infer = infer_where, .run = run_where};

}  // namespace hewn::flow
