#include "hewn/runtime/op/operator.h"
#include "hewn/runtime/op/work.h"

namespace hewn::runtime {
namespace {

void run_relu(const Work& work, int64_t part, int64_t parts) {
  const Range range = share(work.out.rows(), part, parts);
  const float* a = work.from;
  for (int64_t i = range.begin * work.columns; i < range.end * work.columns; ++i) {
    work.to[i] = a[i] < 0.0F ? 0.0F : a[i];
  }
}

}  // namespace

/// An instruction of its own only where nothing before can take it along.
const Operator& relu() {
  static constexpr Operator kRelu = {.name = "relu", .run = run_relu, .pointwise = true};
  return kRelu;
}

}  // namespace hewn::runtime
