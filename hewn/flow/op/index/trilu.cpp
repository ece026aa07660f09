#include <algorithm>

#include "hewn/flow/op/runs.h"

namespace hewn::flow {
namespace {

std::vector<Spec> infer_trilu(const Call& call) {
  if (call.rank(0) < 2) throw call.bad("expected matrices");
  if (call.has(1)) {
    call.expect(1, Type::kInt);
    call.expect_one(1);
  }
  return {call.spec(0)};
}

/// Keeps what lies on one side of a diagonal, and the diagonal.
void run_trilu(const Call& call) {
  copy_first(call);
  const bool upper = call.node->integer("upper", 1) != 0;
  const Dims& dims = call.dims(0);
  const int64_t rows = dims[dims.size() - 2];
  const int64_t columns = dims.back();
  const int64_t above = std::clamp(call.has(1) ? call.values<int64_t>(1)[0] : 0, -rows, columns);
  if (call.spec(0).elements() == 0) return;
  const int64_t all = call.spec(0).elements() / columns;
  with_type(call.type(0), [&](auto element) {
    using T = decltype(element);
    T* out = call.result<T>(0).data();
    for (int64_t row = 0; row < all; ++row, out += columns) {
      const int64_t diagonal = row % rows + above;
      const int64_t first = upper ? 0 : std::clamp<int64_t>(diagonal + 1, 0, columns);
      const int64_t last = upper ? std::clamp<int64_t>(diagonal, 0, columns) : columns;
      std::fill(out + first, out + last, T{});
    }
  });
}

}  // namespace

constinit const Operator op::kTrilu = {
    .name = "Trilu", .most_inputs = 2, .infer = infer_trilu, .run = run_trilu};

}  // namespace hewn::flow
