#include "hewn/measure/layer.h"

#include "hewn/core/error.h"

namespace hewn::measure {

void check_point(const Grid& grid, const Point& point) {
  if (!(point.sparsity >= 0 && point.sparsity < 1)) {
    throw Error(str("sparsity: expected a number in [0, 1), got ", point.sparsity));
  }
  if (point.block.rows > grid.rows || point.block.cols > grid.cols) {
    throw Error(str("block: ", hewn::to_string(point.block), " is larger than the layer, ", grid.rows, "x",
                    grid.cols));
  }
}

void check_extents(std::initializer_list<std::pair<const char*, int64_t>> extents) {
  for (const auto& [key, value] : extents) {
    if (value < 1) throw Error(str(key, ": expected at least 1, got ", value));
  }
}

SparseWays Layer::sparse(Product product, const Point& point) const {
  switch (product) {
    case Product::kForward:
      return sparse_forward(point);
    case Product::kGradInput:
      return sparse_grad_input(point);
    case Product::kGradWeight:
      return sparse_grad_weight(point);
  }
  throw Error("product outside the table");
}

}  // namespace hewn::measure
