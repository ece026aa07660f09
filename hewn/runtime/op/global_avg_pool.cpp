#include <algorithm>

#include "hewn/runtime/op/operator.h"
#include "hewn/runtime/op/work.h"

namespace hewn::runtime {
namespace {

Shape global_avg_pool_shape(const Node&, std::span<const Shape> in) { return {in[0].channels, 1, 1}; }

void run_global_avg_pool(const Work& work, int64_t part, int64_t parts) {
  const Range channels = share(work.out.channels, part, parts);
  const int64_t begin = channels.begin * work.columns;
  const int64_t floats = channels.end * work.columns - begin;
  float* to = work.to + work.out.row(0, 0) * work.columns + begin;
  std::fill_n(to, floats, 0.0F);
  for (int64_t y = 0; y < work.in.height; ++y) {
    for (int64_t x = 0; x < work.in.width; ++x) {
      const float* from = work.from + work.in.row(y, x) * work.columns + begin;
      for (int64_t i = 0; i < floats; ++i) to[i] += from[i];
    }
  }
  const float scale = 1.0F / static_cast<float>(work.in.height * work.in.width);
  for (int64_t i = 0; i < floats; ++i) to[i] *= scale;
}

}  // namespace

const Operator& global_avg_pool() {
  static constexpr Operator kGlobalAvgPool = {
      .name = "global_avg_pool", .shape = global_avg_pool_shape, .run = run_global_avg_pool};
  return kGlobalAvgPool;
}

}  // namespace hewn::runtime
