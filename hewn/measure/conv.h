#pragma once

#include <ATen/core/Tensor.h>

#include "hewn/kernels/conv.h"
#include "hewn/measure/layer.h"

namespace hewn::measure {

struct Conv2dShape {
  int64_t batch = 24;
  int64_t in = 256;
  int64_t out = 256;
  int64_t height = 14;
  int64_t width = 14;
  kernels::ConvGeometry geometry{3, 3, 1, 1, 1};

  bool operator==(const Conv2dShape&) const = default;
};

/// Throws Error where an extent is below 1, or the kernel is larger than the padded image.
void check_shape(const Conv2dShape& shape);

/// A Conv2d layer without bias. The weight gradient reads plain images and packs them inside the timed call.
class Conv2d final : public Layer {
 public:
  Conv2d(const Conv2dShape& shape, uint64_t seed);

  Grid grid() const override;
  std::vector<Contender> dense(Product product) const override;
  SparseWays sparse(Product product, const Point& point) const override;

 private:
  SparseWays sparse_forward(const Point& point) const;
  SparseWays sparse_grad_input(const Point& point) const;
  SparseWays sparse_grad_weight(const Point& point) const;
  at::Tensor grad_output() const;

  Conv2dShape shape_;
  kernels::ConvShape images_;
  uint64_t seed_;
  at::Tensor x_;       // batch x in x height x width
  at::Tensor weight_;  // out x in x kernel x kernel
};

}  // namespace hewn::measure
