#include <limits>

#include "hewn/core/error.h"
#include "hewn/runtime/op/operator.h"
#include "hewn/runtime/op/work.h"

namespace hewn::runtime {
namespace {

Shape add_shape(const Node&, std::span<const Shape> in) {
  if (in[0] != in[1]) throw Error(str("adds ", to_string(in[0]), " and ", to_string(in[1])));
  return in[0];
}

/// out = a + b, or max(0, a + b) with a relu. Borders are zero and stay zero.
void run_add(const Work& work, int64_t part, int64_t parts) {
  const Range range = share(work.out.rows(), part, parts);
  const float least = work.relu ? 0.0F : -std::numeric_limits<float>::infinity();
  const float* a = work.from;
  const float* b = work.add;
  for (int64_t i = range.begin * work.columns; i < range.end * work.columns; ++i) {
    const float sum = a[i] + b[i];
    work.to[i] = sum < least ? least : sum;
  }
}

}  // namespace

/// An instruction of its own only where no product can take it along.
const Operator& add() {
  static constexpr Operator kAdd = {
      .name = "add", .inputs = 2, .shape = add_shape, .run = run_add, .takes_relu = true, .pointwise = true};
  return kAdd;
}

}  // namespace hewn::runtime
