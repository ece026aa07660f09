#include "hewn/flow/op/numbers.h"
#include "hewn/flow/op/operator.h"

namespace hewn::flow {
namespace {

int64_t length_of_range(const Call& call, float start, float limit, float delta) {
  const double length = std::ceil(static_cast<double>(limit - start) / delta);
  if (!(length <= static_cast<double>(kMostElements))) throw call.bad("has no end");
  return length > 0 ? to_integer(length) : 0;
}

int64_t length_of_range(const Call& call, int64_t start, int64_t limit, int64_t delta) {
  if (delta == 0) throw call.bad("has no end");
  if (delta > 0 ? limit <= start : limit >= start) return 0;
  // Unsigned, so that every distance fits.
  const auto from = static_cast<uint64_t>(start);
  const auto to = static_cast<uint64_t>(limit);
  const auto step = static_cast<uint64_t>(delta);
  const uint64_t length = (delta > 0 ? to - from - 1 : from - to - 1) / (delta > 0 ? step : 0 - step) + 1;
  if (length > static_cast<uint64_t>(kMostElements)) throw call.bad("is too long");
  return static_cast<int64_t>(length);
}

std::vector<Spec> infer_range(const Call& call) {
  call.expect_number(0);
  for (size_t i = 0; i < 3; ++i) {
    call.expect(i, call.type(0));
    call.expect_one(i);
  }
  const auto length = [&](auto element) {
    using T = decltype(element);
    return length_of_range(call, call.values<T>(0)[0], call.values<T>(1)[0], call.values<T>(2)[0]);
  };
  return {{call.type(0), {call.type(0) == Type::kFloat ? length(float{}) : length(int64_t{})}}};
}

template <class T>
void range_of(const Call& call) {
  const T start = call.values<T>(0)[0];
  const T delta = call.values<T>(2)[0];
  const auto out = call.result<T>(0);
  for (size_t i = 0; i < out.size(); ++i) out[i] = plus(start, times(static_cast<T>(i), delta));
}

void run_range(const Call& call) {
  call.type(0) == Type::kFloat ? range_of<float>(call) : range_of<int64_t>(call);
}

}  // namespace

constinit const Operator op::kRange = {
    .name = "Range", .least_inputs = 3, .most_inputs = 3, .infer = infer_range, .run = run_range};

}  // namespace hewn::flow
