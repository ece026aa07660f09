#include "hewn/runtime/op/product.h"

#include "hewn/runtime/shapes.h"

namespace hewn::runtime {

int64_t product_cost(const Node& node, std::span<const Shape> in, const Shape& out) {
  return saturating_product(weight_rows(node, in[0]), out.elements());
}

}  // namespace hewn::runtime
