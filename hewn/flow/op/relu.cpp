#include <algorithm>

#include "hewn/flow/op/operator.h"

namespace hewn::flow {
namespace {

void run_relu(const Call& call) {
  const auto in = call.values<float>(0);
  std::transform(in.begin(), in.end(), call.result<float>(0).begin(), [](float x) { return x > 0 ? x : 0; });
}

}  // namespace

const Operator& relu() {
  static constexpr Operator kRelu = {.name = "Relu", .infer = same_as_first, .run = run_relu};
  return kRelu;
}

}  // namespace hewn::flow
