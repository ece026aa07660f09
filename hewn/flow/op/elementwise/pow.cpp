#include "hewn/flow/op/elementwise/elementwise.h"

namespace hewn::flow {
namespace {

/// Exponents may be of another type; what comes out is of the base's.
std::vector<Spec> infer_pow(const Call& call) {
  call.expect_number(0);
  call.expect_number(1);
  return {{call.type(0), broadcast(call, call.dims(0), call.dims(1))}};
}

int64_t power_of_integer(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : (base == -1 ? -1 : 0);
  int64_t power = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) power = times(power, base);
    base = times(base, base);
  }
  return power;
}

void run_pow(const Call& call) {
  const bool floats = call.type(0) == Type::kFloat;
  const bool float_exponent = call.type(1) == Type::kFloat;
  if (floats && float_exponent) {
    // Squares are what networks ask for most.
    map_pairs<float, float, float>(call, [](float a, float b) { return b == 2 ? a * a : std::pow(a, b); });
  } else if (floats) {
    map_pairs<float, int64_t, float>(
        call, [](float a, int64_t b) { return static_cast<float>(std::pow(a, static_cast<double>(b))); });
  } else if (float_exponent) {
    map_pairs<int64_t, float, int64_t>(
        call, [](int64_t a, float b) { return to_integer(std::pow(static_cast<double>(a), b)); });
  } else {
    map_pairs<int64_t, int64_t, int64_t>(call, power_of_integer);
  }
}

}  // namespace

constinit const Operator op::kPow = {
    .name = "Pow", .least_inputs = 2, .most_inputs = 2, .infer = infer_pow, .run = run_pow};

}  // namespace hewn::flow
