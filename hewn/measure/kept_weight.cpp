#include "hewn/measure/kept_weight.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/max.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/measure/pattern.h"

namespace hewn::measure {
namespace {

constexpr int64_t kCheckedSamples = 8;
constexpr double kTolerance = 1e-4;

WeightLayout layout_of(const at::Tensor& weight, const BlockShape& block) {
  const int64_t taps = weight.dim() == 4 ? weight.size(2) * weight.size(3) : 1;
  return {{weight.size(1) * taps, weight.size(0), block}, taps};
}

}  // namespace

KeptWeight::KeptWeight(const at::Tensor& weight, const Point& point, uint64_t seed)
    : pattern(random_pattern(layout_of(weight, point.block).grid, point.sparsity, seed)),
      values(blocks_of(weight)),
      masked(at::zeros_like(weight)) {
  kernels::scatter_blocks(pattern, layout_of(weight, point.block), values.data(), masked.data_ptr<float>(), 0,
                          pattern.grid.col_blocks());
}

std::vector<float> KeptWeight::blocks_of(const at::Tensor& weight) const {
  std::vector<float> blocks(static_cast<size_t>(pattern.value_floats()));
  kernels::gather_blocks(pattern, layout_of(weight, pattern.grid.block), weight.data_ptr<float>(), nullptr,
                         blocks.data(), 0, pattern.grid.col_blocks());
  return blocks;
}

void KeptWeight::check_gradient(const std::string& what, const std::vector<float>& got,
                                const at::Tensor& expected) const {
  const std::vector<float> blocks = blocks_of(expected);
  check_close(what, at::tensor(got), at::tensor(blocks));
}

SparseWays KeptWeight::ways(int64_t weight_bytes) const {
  SparseWays ways;
  ways.density = density(pattern);
  ways.kept_blocks = pattern.kept();
  ways.blocks = pattern.grid.blocks();
  ways.weight_bytes = weight_bytes;
  return ways;
}

at::Tensor random_tensor(at::IntArrayRef sizes, uint64_t seed, uint64_t what) {
  at::Tensor out = at::empty(sizes, at::kFloat);
  fill_random(out.data_ptr<float>(), out.numel(), seed, what);
  return out;
}

at::Tensor some_samples(const at::Tensor& batch) {
  const int64_t size = batch.size(0);
  if (size <= kCheckedSamples) return batch;
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < kCheckedSamples; ++i) chosen.push_back(i * (size - 1) / (kCheckedSamples - 1));
  return at::index_select(batch, 0, at::tensor(chosen));
}

void check_samples(const std::string& what, const at::Tensor& got, const at::Tensor& expected) {
  check_close(what, some_samples(got), expected);
}

void check_close(const std::string& what, const at::Tensor& got, const at::Tensor& expected) {
  const double scale = std::max(expected.abs().max().item<double>(), 1e-30);
  const double difference = (got - expected).abs().max().item<double>() / scale;
  if (!(difference <= kTolerance)) {
    throw Error(str(what, ": the block-sparse result differs from the dense one by ", difference,
                    " of its largest value"));
  }
}

}  // namespace hewn::measure
