#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

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

struct PanelImages;

/// A Conv2d layer without bias. The weight gradient reads plain images and packs them inside the timed call.
class Conv2d final : public Layer {
 public:
  /// `pixels` share a pass over the weight; 0: several numbers of pixels are contenders.
  Conv2d(const Conv2dShape& shape, uint64_t seed, int64_t pixels = 0);

  Grid grid() const override;
  std::vector<Contender> dense(Product product) const override;

 private:
  SparseWays sparse_forward(const Point& point) const override;
  SparseWays sparse_grad_input(const Point& point) const override;
  SparseWays sparse_grad_weight(const Point& point) const override;
  at::Tensor grad_output() const;

  Conv2dShape shape_;
  kernels::ConvShape images_;
  uint64_t seed_;
  int64_t pixels_;
  at::Tensor x_;       // batch x in x height x width
  at::Tensor weight_;  // out x in x kernel x kernel
  // Shared by all points: a large layer's take longer to make than to use.
  std::shared_ptr<PanelImages> in_panels_;
  std::shared_ptr<PanelImages> out_panels_;
};

}  // namespace hewn::measure
