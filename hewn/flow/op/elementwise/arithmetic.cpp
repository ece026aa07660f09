#include "hewn/flow/op/elementwise/elementwise.h"

namespace hewn::flow {

Dims dims_of_pair(const Call& call) {
  call.expect(1, call.type(0));
  return broadcast(call, call.dims(0), call.dims(1));
}

namespace {

std::vector<Spec> infer_arithmetic(const Call& call) {
  call.expect_number(0);
  return {{call.type(0), dims_of_pair(call)}};
}

template <auto kFormula>
void run_arithmetic(const Call& call) {
  call.type(0) == Type::kFloat ? map_pairs<float, float, float>(call, kFormula)
                               : map_pairs<int64_t, int64_t, int64_t>(call, kFormula);
}

template <auto kFormula>
constexpr Operator arithmetic(std::string_view name) {
  return {.name = name,
          .least_inputs = 2,
          .most_inputs = 2,
          .infer = infer_arithmetic,
          .run = run_arithmetic<kFormula>};
}

/// The sign of the divisor, as in Python.
int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::vector<Spec> infer_mod(const Call& call) {
  if (call.type(0) == Type::kFloat && call.node->integer("fmod", 0) == 0) {
    throw call.bad("floats need the attribute fmod");
  }
  return infer_arithmetic(call);
}

void run_mod(const Call& call) {
  if (call.type(0) == Type::kFloat) {
    return map_pairs<float, float, float>(call, [](float a, float b) { return std::fmod(a, b); });
  }
  if (call.node->integer("fmod", 0) == 0) return map_pairs<int64_t, int64_t, int64_t>(call, floor_mod);
  map_pairs<int64_t, int64_t, int64_t>(
      call, [](int64_t a, int64_t b) { return b == 0 || b == -1 ? int64_t{0} : a % b; });
}

/// The slope is stretched to the input, never the other way round.
std::vector<Spec> infer_p_relu(const Call& call) {
  std::vector<Spec> out = infer_arithmetic(call);
  if (out[0].dims != call.dims(0)) throw call.bad("the slope is larger than the input");
  return out;
}

}  // namespace

constinit const Operator op::kAdd = arithmetic<[](auto a, auto b) { return plus(a, b); }>("Add");
constinit const Operator op::kSub = arithmetic<[](auto a, auto b) { return minus(a, b); }>("Sub");
constinit const Operator op::kMul = arithmetic<[](auto a, auto b) { return times(a, b); }>("Mul");
constinit const Operator op::kDiv = arithmetic<[](auto a, auto b) { return divided(a, b); }>("Div");
constinit const Operator op::kMod = {
    .name = "Mod", .least_inputs = 2, .most_inputs = 2, .infer = infer_mod, .run = run_mod};
constinit const Operator op::kPRelu = {
    .name = "PRelu",
    .least_inputs = 2,
    .most_inputs = 2,
    .infer = infer_p_relu,
    .run = run_arithmetic<[](auto x, auto slope) { return x < 0 ? times(slope, x) : x; }>};

}  // namespace hewn::flow
