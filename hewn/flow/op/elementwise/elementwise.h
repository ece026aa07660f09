#pragma once

#include <algorithm>

#include "hewn/flow/op/numbers.h"
#include "hewn/flow/op/runs.h"

namespace hewn::flow {

/// Every element of the first input through `formula`.
template <class In, class Out = In, class Formula>
void map(const Call& call, const Formula& formula) {
  const auto in = call.values<In>(0);
  std::transform(in.begin(), in.end(), call.result<Out>(0).begin(), formula);
}

template <auto kFormula>
void map_floats(const Call& call) {
  map<float>(call, kFormula);
}

template <auto kFormula>
void map_numbers(const Call& call) {
  call.type(0) == Type::kFloat ? map<float>(call, kFormula) : map<int64_t>(call, kFormula);
}

/// An operator that does the same to every element: to floats, or to floats and integers.
template <auto kFormula>
constexpr Operator on_floats(std::string_view name) {
  return {.name = name, .infer = same_floats, .run = map_floats<kFormula>};
}

template <auto kFormula>
constexpr Operator on_numbers(std::string_view name) {
  return {.name = name, .infer = same_numbers, .run = map_numbers<kFormula>};
}

/// Both inputs stretched to the output's shape, pair by pair through `formula`.
template <class A, class B, class Out, class Formula>
void map_pairs(const Call& call, const Formula& formula) {
  const auto a = call.values<A>(0);
  const auto b = call.values<B>(1);
  const auto out = call.result<Out>(0);
  const Dims& dims = call.out[0].spec.dims;
  each_run<2>(dims, {strides_in(call.dims(0), dims), strides_in(call.dims(1), dims)},
              [&](int64_t at, const auto& offset, int64_t length, const auto& step) {
                const A* x = a.data() + offset[0];
                const B* y = b.data() + offset[1];
                Out* to = out.data() + at;
                if (step[0] == 1 && step[1] == 1) {
                  for (int64_t i = 0; i < length; ++i) to[i] = formula(x[i], y[i]);
                } else if (step[0] == 1 && step[1] == 0) {
                  const B constant = *y;
                  for (int64_t i = 0; i < length; ++i) to[i] = formula(x[i], constant);
                } else if (step[0] == 0 && step[1] == 1) {
                  const A constant = *x;
                  for (int64_t i = 0; i < length; ++i) to[i] = formula(constant, y[i]);
                } else {
                  for (int64_t i = 0; i < length; ++i) to[i] = formula(x[i * step[0]], y[i * step[1]]);
                }
              });
}

/// The shape of two inputs of one type.
Dims dims_of_pair(const Call& call);

}  // namespace hewn::flow
