// Any number of inputs, stretched to one shape and taken together one after the other.
#include "hewn/flow/op/elementwise/elementwise.h"

namespace hewn::flow {
namespace {

template <bool kFloatsOnly>
std::vector<Spec> infer_variadic(const Call& call) {
  kFloatsOnly ? call.expect(0, Type::kFloat) : call.expect_number(0);
  Dims dims = call.dims(0);
  for (size_t i = 1; i < call.in.size(); ++i) {
    call.expect(i, call.type(0));
    dims = broadcast(call, dims, call.dims(i));
  }
  return {{call.type(0), dims}};
}

template <class T, class Formula>
void gather_up(const Call& call, const Formula& formula) {
  const auto out = call.result<T>(0);
  const Dims& dims = call.out[0].spec.dims;
  copy(call.type(0), dims, {call.at(0).data, strides_in(call.dims(0), dims)},
       {call.out[0].data, strides_of(dims)});
  for (size_t i = 1; i < call.in.size(); ++i) {
    const auto next = call.values<T>(i);
    each_run<1>(dims, {strides_in(call.dims(i), dims)},
                [&](int64_t at, const auto& offset, int64_t length, const auto& step) {
                  const T* from = next.data() + offset[0];
                  T* to = out.data() + at;
                  for (int64_t j = 0; j < length; ++j) to[j] = formula(to[j], from[j * step[0]]);
                });
  }
}

template <auto kFormula>
void run_variadic(const Call& call) {
  call.type(0) == Type::kFloat ? gather_up<float>(call, kFormula) : gather_up<int64_t>(call, kFormula);
}

void run_mean(const Call& call) {
  gather_up<float>(call, plus<float>);
  const auto inputs = static_cast<float>(call.in.size());
  for (float& x : call.result<float>(0)) x /= inputs;
}

template <auto kFormula>
constexpr Operator variadic(std::string_view name) {
  return {
      .name = name, .most_inputs = kAnyNumber, .infer = infer_variadic<false>, .run = run_variadic<kFormula>};
}

}  // namespace

constinit const Operator op::kMax = variadic<[](auto a, auto b) { return larger(a, b); }>("Max");
constinit const Operator op::kMin = variadic<[](auto a, auto b) { return smaller(a, b); }>("Min");
constinit const Operator op::kSum = variadic<[](auto a, auto b) { return plus(a, b); }>("Sum");
constinit const Operator op::kMean = {
    .name = "Mean", .most_inputs = kAnyNumber, .infer = infer_variadic<true>, .run = run_mean};

}  // namespace hewn::flow
