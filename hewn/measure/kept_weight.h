#pragma once

#include <ATen/core/Tensor.h>

#include <string>
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
  /// check_close of the kept blocks of a weight gradient with those of the dense one.
  void check_gradient(const std::string& what, const std::vector<float>& got,
                      const at::Tensor& expected) const;
  /// All but the contenders.
  SparseWays ways(int64_t weight_bytes) const;
};

/// A float tensor of random numbers.
at::Tensor random_tensor(at::IntArrayRef sizes, uint64_t seed, uint64_t what);

/// Some samples of a batch, first and last among them: enough to check a product without repeating it.
at::Tensor some_samples(const at::Tensor& batch);

/// check_close of some samples of a batch with what a dense product gives for these.
void check_samples(const std::string& what, const at::Tensor& got, const at::Tensor& expected);

/// The one check of block-sparse results: throws Error where the largest difference is above 1e-4 of the
/// largest value expected.
void check_close(const std::string& what, const at::Tensor& got, const at::Tensor& expected);

}  // namespace hewn::measure
