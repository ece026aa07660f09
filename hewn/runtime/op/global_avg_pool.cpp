#include "hewn/runtime/op/operator.h"

namespace hewn::runtime {
namespace {

Shape global_avg_pool_shape(const Node&, std::span<const Shape> in) { return {in[0].channels, 1, 1}; }

}  // namespace

const Operator& global_avg_pool() {
  static constexpr Operator kGlobalAvgPool = {.name = "global_avg_pool", .shape = global_avg_pool_shape};
  return kGlobalAvgPool;
}

}  // namespace hewn::runtime
