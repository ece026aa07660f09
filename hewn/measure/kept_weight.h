#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "hewn/kernels/bsr.h"
#include "hewn/measure/layer.h"

namespace hewn::measure {

/// Random blocks of a weight (out x in, or out x in x height x width), as a list and as a dense weight with
/// zeros.
struct KeptWeight {
  kernels::BsrPattern pattern;
  std::vector<float> values;
  at::Tensor masked;

  KeptWeight(const at::Tensor& weight, const Point& point, uint64_t seed);
  /// The same blocks of another tensor of that shape, such as a gradient.
  std::vector<float> blocks_of(const at::Tensor& weight) const;
  /// All but the contenders and their bytes.
  SparseWays ways() const;
};

/// A float tensor of random numbers.
at::Tensor random_tensor(at::IntArrayRef sizes, uint64_t seed, uint64_t what);

/// Some samples of a batch, first and last among them: enough to check a product without repeating it.
at::Tensor some_samples(const at::Tensor& batch);

/// Throws Error where the largest difference is above 1e-4 of the largest value expected.
void check_close(const std::string& what, const at::Tensor& got, const at::Tensor& expected);

}  // namespace hewn::measure
