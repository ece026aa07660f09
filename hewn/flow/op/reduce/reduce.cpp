// ReduceSum and its kind: one fold over some dimensions each.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "hewn/flow/op/numbers.h"
#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

/// Which dimensions are taken together.
std::vector<bool> reduced_dims(const Call& call) {
  const auto rank = static_cast<size_t>(call.rank(0));
  const auto axes = list_of(call, "axes", 1);
  if (!axes || axes->empty()) {
    return std::vector<bool>(rank, call.node->integer("noop_with_empty_axes", 0) == 0);
  }
  std::vector<bool> out(rank, false);
  for (const int64_t axis : from_front(call, *axes, call.rank(0))) out[static_cast<size_t>(axis)] = true;
  return out;
}

template <bool kFloatsOnly, bool kBools>
std::vector<Spec> infer_reduction(const Call& call) {
  if (kFloatsOnly) call.expect(0, Type::kFloat);
  if (!kBools) call.expect_number(0);
  const std::vector<bool> reduced = reduced_dims(call);
  const bool keep = call.node->integer("keepdims", 1) != 0;
  Spec out = {call.type(0), {}};
  for (size_t d = 0; d < reduced.size(); ++d) {
    if (!reduced[d]) out.dims.push_back(call.dims(0)[d]);
    if (reduced[d] && keep) out.dims.push_back(1);
  }
  return {out};
}

/// Folds rows of the input into one state for each output: `begin`, then step(state, x), then
/// finish(state, number of elements). Sums are taken in double.
template <class T, class State, class Step, class Finish>
void fold(const Call& call, State begin, const Step& step, const Finish& finish) {
  const auto in = call.values<T>(0);
  const auto out = call.result<T>(0);
  const std::vector<bool> reduced = reduced_dims(call);
  const Dims& dims = call.dims(0);
  Steps strides(dims.size());
  int64_t together = 1;
  int64_t apart = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (!reduced[d]) strides[d] = apart;
    (reduced[d] ? together : apart) *= dims[d];
  }
  const auto states = std::make_unique<State[]>(out.size());
  std::fill_n(states.get(), out.size(), begin);
  each_run<1>(dims, {strides}, [&](int64_t at, const auto& offset, int64_t length, const auto& stride) {
    const T* from = in.data() + at;
    State* to = states.get() + offset[0];
    if (stride[0] == 0) {
      State state = *to;
      for (int64_t i = 0; i < length; ++i) state = step(state, from[i]);
      *to = state;
    } else {
      for (int64_t i = 0; i < length; ++i) to[i] = step(to[i], from[i]);
    }
  });
  std::transform(states.get(), states.get() + out.size(), out.begin(),
                 [&](State state) { return static_cast<T>(finish(state, together)); });
}

constexpr auto kAsItIs = [](auto state, int64_t) { return state; };

template <auto kStep, auto kFinish, int kBegin = 0>
void run_sum(const Call& call) {
  call.type(0) == Type::kFloat ? fold<float>(call, static_cast<double>(kBegin), kStep, kFinish)
                               : fold<int64_t>(call, static_cast<int64_t>(kBegin), kStep, kFinish);
}

/// A fold of numbers that begins with `kBegin`; what comes in is converted to the state's type.
template <auto kStep, auto kFinish = kAsItIs, int kBegin = 0>
constexpr Operator sum_like(std::string_view name) {
  return {.name = name,
          .most_inputs = 2,
          .infer = infer_reduction<false, false>,
          .run = run_sum<kStep, kFinish, kBegin>};
}

void run_reduce_max(const Call& call) {
  if (call.type(0) == Type::kBool) return fold<bool>(call, false, std::logical_or<>(), kAsItIs);
  if (call.type(0) == Type::kInt) {
    return fold<int64_t>(call, std::numeric_limits<int64_t>::min(), larger<int64_t>, kAsItIs);
  }
  fold<float>(call, -std::numeric_limits<float>::infinity(), larger<float>, kAsItIs);
}

void run_reduce_min(const Call& call) {
  if (call.type(0) == Type::kBool) return fold<bool>(call, true, std::logical_and<>(), kAsItIs);
  if (call.type(0) == Type::kInt) {
    return fold<int64_t>(call, std::numeric_limits<int64_t>::max(), smaller<int64_t>, kAsItIs);
  }
  fold<float>(call, std::numeric_limits<float>::infinity(), smaller<float>, kAsItIs);
}

/// A sum of exponentials, as multiples of the largest one so far.
struct Exponentials {
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;
};

void run_log_sum_exp(const Call& call) {
  const auto step = [](Exponentials state, double x) -> Exponentials {
    if (x <= state.largest)
      return {state.largest, state.sum + (x == state.largest ? 1 : std::exp(x - state.largest))};
    return {x, 1 + (state.sum == 0 ? 0 : state.sum * std::exp(state.largest - x))};
  };
  fold<float>(call, Exponentials{}, step,
              [](const Exponentials& state, int64_t) { return state.largest + std::log(state.sum); });
}

constexpr Operator extreme(std::string_view name, void (*run)(const Call&)) {
  return {.name = name, .most_inputs = 2, .infer = infer_reduction<false, true>, .run = run};
}

template <class S>
S converted(double x) {
  if constexpr (std::is_same_v<S, double>) {
    return x;
  } else {
    return to_integer(x);
  }
}

constexpr auto kPlus = []<class S>(S sum, auto x) { return plus(sum, static_cast<S>(x)); };
constexpr auto kPlusSquare = []<class S>(S sum, auto x) {
  return plus(sum, times(static_cast<S>(x), static_cast<S>(x)));
};
constexpr auto kPlusAbsolute = []<class S>(S sum, auto x) {
  return x < 0 ? minus(sum, static_cast<S>(x)) : plus(sum, static_cast<S>(x));
};
constexpr auto kTimes = []<class S>(S product, auto x) { return times(product, static_cast<S>(x)); };
constexpr auto kRoot = []<class S>(S sum, int64_t) {
  return converted<S>(std::sqrt(static_cast<double>(sum)));
};
constexpr auto kLogarithm = []<class S>(S sum, int64_t) {
  return converted<S>(std::log(static_cast<double>(sum)));
};
constexpr auto kDivide = []<class S>(S sum, int64_t elements) {
  return divided(sum, static_cast<S>(elements));
};

}  // namespace

constinit const Operator op::kReduceSum = sum_like<kPlus>("ReduceSum");
constinit const Operator op::kReduceMean = sum_like<kPlus, kDivide>("ReduceMean");
constinit const Operator op::kReduceProd = sum_like<kTimes, kAsItIs, 1>("ReduceProd");
constinit const Operator op::kReduceL1 = sum_like<kPlusAbsolute>("ReduceL1");
constinit const Operator op::kReduceL2 = sum_like<kPlusSquare, kRoot>("ReduceL2");
constinit const Operator op::kReduceSumSquare = sum_like<kPlusSquare>("ReduceSumSquare");
constinit const Operator op::kReduceLogSum = sum_like<kPlus, kLogarithm>("ReduceLogSum");
constinit const Operator op::kReduceLogSumExp = {.name = "ReduceLogSumExp",
                                                 .most_inputs = 2,
                                                 .infer = infer_reduction<true, false>,
                                                 .run = run_log_sum_exp};
constinit const Operator op::kReduceMax = extreme("ReduceMax", run_reduce_max);
constinit const Operator op::kReduceMin = extreme("ReduceMin", run_reduce_min);

}  // namespace hewn::flow
