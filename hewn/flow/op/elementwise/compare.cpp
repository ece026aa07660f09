#include "hewn/flow/op/elementwise/elementwise.h"

namespace hewn::flow {
namespace {

template <bool kLogical>
std::vector<Spec> infer_comparison(const Call& call) {
  if (kLogical) call.expect(0, Type::kBool);
  return {{Type::kBool, dims_of_pair(call)}};
}

template <auto kFormula>
void run_comparison(const Call& call) {
  with_type(call.type(0), [&](auto element) {
    using T = decltype(element);
    map_pairs<T, T, bool>(call, kFormula);
  });
}

template <auto kFormula>
void run_logical(const Call& call) {
  map_pairs<bool, bool, bool>(call, kFormula);
}

template <auto kFormula>
constexpr Operator comparison(std::string_view name) {
  return {.name = name,
          .least_inputs = 2,
          .most_inputs = 2,
          .infer = infer_comparison<false>,
          .run = run_comparison<kFormula>};
}

template <auto kFormula>
constexpr Operator logical(std::string_view name) {
  return {.name = name,
          .least_inputs = 2,
          .most_inputs = 2,
          .infer = infer_comparison<true>,
          .run = run_logical<kFormula>};
}

}  // namespace

constinit const Operator op::kEqual = comparison<[](auto a, auto b) { return a == b; }>("Equal");
constinit const Operator op::kGreater = comparison<[](auto a, auto b) { return b < a; }>("Greater");
constinit const Operator op::kGreaterOrEqual =
    comparison<[](auto a, auto b) { return a >= b; }>("GreaterOrEqual");
constinit const Operator op::kLess = comparison<[](auto a, auto b) { return a < b; }>("Less");
constinit const Operator op::kLessOrEqual = comparison<[](auto a, auto b) { return a <= b; }>("LessOrEqual");
constinit const Operator op::kAnd = logical<[](bool a, bool b) { return a && b; }>("And");
constinit const Operator op::kOr = logical<[](bool a, bool b) { return a || b; }>("Or");
constinit const Operator op::kXor = logical<[](bool a, bool b) { return a != b; }>("Xor");

}  // namespace hewn::flow
