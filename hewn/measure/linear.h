#pragma once

#include <ATen/core/Tensor.h>

#include "hewn/measure/layer.h"

namespace hewn::measure {

struct LinearShape {
  int64_t batch = 256;
  int64_t in = 1024;
  int64_t out = 1024;

  bool operator==(const LinearShape&) const = default;
};

/// Throws Error where an extent is below 1.
void check_shape(const LinearShape& shape);

/// A Linear layer without bias. Batch 1 is measured against matrix-vector products too. The input gradient
/// copies the weight into its transposed order inside the timed call, because a training step must; the
/// weight gradient is handed its activations in block columns.
class Linear final : public Layer {
 public:
  Linear(const LinearShape& shape, uint64_t seed);

  Grid grid() const override { return {shape_.in, shape_.out, {shape_.in, shape_.out}}; }
  std::vector<Contender> dense(Product product) const override;

 private:
  SparseWays sparse_forward(const Point& point) const override;
  SparseWays sparse_grad_input(const Point& point) const override;
  SparseWays sparse_grad_weight(const Point& point) const override;

  LinearShape shape_;
  uint64_t seed_;
  at::Tensor x_;       // batch x in
  at::Tensor dy_;      // batch x out
  at::Tensor weight_;  // out x in
};

}  // namespace hewn::measure
