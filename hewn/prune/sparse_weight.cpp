#include "hewn/prune/sparse_weight.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "hewn/tensor/memory.h"

namespace hewn::prune {

SparseWeight::SparseWeight(at::Tensor leaf, const WeightLayout& layout, const at::Tensor& support)
    : leaf_(std::move(leaf)),
      layout_(layout),
      pattern_(kernels::make_pattern(layout.grid, tensor::data_or_null<uint8_t>(support))) {}

at::Tensor SparseWeight::gather(const at::Tensor& dense, const at::Tensor& factor) const {
  at::Tensor out = at::empty({pattern_.value_floats()}, leaf_.options());
  tensor::share_kept(pattern_, [&](int64_t begin, int64_t end) {
    kernels::gather_blocks(pattern_, layout_, dense.data_ptr<float>(), tensor::data_or_null<float>(factor),
                           out.data_ptr<float>(), begin, end);
  });
  return out;
}

at::Tensor SparseWeight::values() const { return gather(leaf_, gate); }

at::Tensor SparseWeight::grad() const {
  const at::Tensor elsewhere = leaf_.grad();
  if (!grad_.defined() || !elsewhere.defined()) return grad_;
  return grad_ + gather(tensor::in_order_of(leaf_, elsewhere), at::Tensor());
}

at::Tensor SparseWeight::backward(const at::Tensor& grad_values, const at::Tensor& used_gate) {
  const at::Tensor grad_gate =
      used_gate.defined() ? at::zeros({layout_.grid.blocks()}, leaf_.options()) : at::Tensor();
  tensor::share_kept(pattern_, [&](int64_t begin, int64_t end) {
    kernels::gate_backward(pattern_, layout_, leaf_.data_ptr<float>(), tensor::data_or_null<float>(used_gate),
                           grad_values.data_ptr<float>(), tensor::data_or_null<float>(grad_gate), begin, end);
  });
  grad_ = grad_.defined() ? grad_ + grad_values : grad_values;
  return grad_gate;
}

}  // namespace hewn::prune
