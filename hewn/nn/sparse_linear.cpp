#include "hewn/nn/sparse_linear.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "hewn/core/error.h"
#include "hewn/kernels/multiply.h"
#include "hewn/tensor/memory.h"

namespace hewn::nn {
namespace {

using kernels::Packed;
using kernels::PanelShape;

/// samples x weight through panels, on all threads.
at::Tensor multiply_samples(const Packed& weight, const at::Tensor& samples, const float* bias) {
  const PanelShape in{samples.size(0), samples.size(1)};
  const PanelShape out{samples.size(0), weight.outputs()};
  const at::Tensor in_panels = at::empty({in.floats()}, samples.options());
  const at::Tensor out_panels = at::empty({out.floats()}, samples.options());
  at::Tensor result = at::empty({out.batch, out.rows}, samples.options());
  at::parallel_for(0, in.panels(), 1, [&](int64_t begin, int64_t end) {
    kernels::pack_panels(in, samples.data_ptr<float>(), in_panels.data_ptr<float>(), begin, end);
    const kernels::Position start;
    for (int64_t p = begin; p < end; ++p) {
      kernels::multiply(weight, in_panels.data_ptr<float>() + in.offset(p),
                        out_panels.data_ptr<float>() + out.offset(p), in.columns(p), {&start, 1},
                        {bias, nullptr, false}, 0, weight.tile_count());
    }
    kernels::unpack_panels(out, out_panels.data_ptr<float>(), result.data_ptr<float>(), begin, end);
  });
  return result;
}

at::Tensor block_columns(const at::Tensor& samples, int64_t block, int64_t size) {
  const int64_t batch = samples.size(0);
  const int64_t features = samples.size(1);
  const int64_t blocks = (features + block - 1) / block;
  at::Tensor out = at::empty({blocks * batch * size}, samples.options());
  at::parallel_for(0, blocks, std::max<int64_t>(1, tensor::kGrain / (batch * size)),
                   [&](int64_t begin, int64_t end) {
                     kernels::pack_block_columns(samples.data_ptr<float>(), batch, features, features, block,
                                                 size, out.data_ptr<float>(), begin, end);
                   });
  return out;
}

}  // namespace

at::Tensor SparseLinear::forward(const at::Tensor& x, const at::Tensor& bias) {
  const Grid& grid = weight().pattern().grid;
  if (x.dim() < 1 || x.size(-1) != grid.rows) {
    throw Error(hewn::str("linear layer: expected samples of ", grid.rows, " features, got ", x.sizes()));
  }
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = grid.cols;
  return differentiable_product(x.reshape({-1, grid.rows}).contiguous(), bias).view(shape);
}

at::Tensor SparseLinear::product(const at::Tensor& x, const at::Tensor& values, const at::Tensor& bias) {
  if (!forward_) forward_ = Packed::linear(weight().pattern());
  fill(*forward_, values);
  return multiply_samples(*forward_, x, tensor::data_or_null<float>(bias));
}

at::Tensor SparseLinear::grad_input(const at::Tensor& /*x*/, const at::Tensor& dy, const at::Tensor& values) {
  if (!transposed_) transposed_ = Packed::linear_transposed(weight().pattern());
  fill(*transposed_, values);
  return multiply_samples(*transposed_, dy, nullptr);
}

at::Tensor SparseLinear::grad_weight(const at::Tensor& x, const at::Tensor& dy) const {
  const kernels::BsrPattern& pattern = weight().pattern();
  const BlockShape block = pattern.grid.block;
  const at::Tensor xs = block_columns(x, block.rows, kernels::padded_block(block.rows));
  const at::Tensor dys = block_columns(dy, block.cols, block.cols);
  at::Tensor grad = at::empty({pattern.value_floats()}, x.options());
  at::parallel_for(0, pattern.grid.col_blocks(), 1, [&](int64_t begin, int64_t end) {
    kernels::grad_weight(pattern, xs.data_ptr<float>(), dys.data_ptr<float>(), x.size(0), false,
                         grad.data_ptr<float>(), begin, end);
  });
  return grad;
}

}  // namespace hewn::nn
