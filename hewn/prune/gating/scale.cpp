#include "hewn/prune/gating/scale.h"

#include <ATen/Dispatch.h>

#include <vector>

#include "hewn/kernels/block_ops.h"
#include "hewn/kernels/cuda/cuda.h"
#include "hewn/tensor/memory.h"
#include "hewn/tensor/stream.h"

namespace hewn::prune {
namespace {

using tensor::data_or_null;

kernels::cuda::Real real_of(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBFloat16 ? kernels::cuda::Real::kBf16 : kernels::cuda::Real::kFloat;
}

void* pointer(const at::Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

std::vector<kernels::cuda::ScaleItem> items_of(std::span<const Scaled> weights) {
  std::vector<kernels::cuda::ScaleItem> items;
  items.reserve(weights.size());
  for (const Scaled& w : weights) {
    items.push_back({w.weight.data_ptr<float>(), static_cast<const float*>(w.gate),
                     data_or_null<uint8_t>(w.active), w.layout, pointer(w.out), pointer(w.grad_out),
                     data_or_null<float>(w.grad_weight), static_cast<float*>(w.grad_gate)});
  }
  return items;
}

}  // namespace

void scale_blocks(std::span<const Scaled> weights) {
  if (weights.empty()) return;
  if (const at::Tensor& first = weights[0].out; first.is_cuda()) {
    kernels::cuda::block_scale(items_of(weights), real_of(first), tensor::current_stream(first));
    return;
  }
  for (const Scaled& w : weights) {
    AT_DISPATCH_FLOATING_TYPES(w.out.scalar_type(), "block_scale", [&] {
      tensor::share_columns(w.layout, [&](int64_t begin, int64_t end) {
        kernels::block_scale(w.layout, w.weight.data_ptr<scalar_t>(), static_cast<const scalar_t*>(w.gate),
                             data_or_null<uint8_t>(w.active), w.out.data_ptr<scalar_t>(), begin, end);
      });
    });
  }
}

void scale_blocks_backward(std::span<const Scaled> weights) {
  if (weights.empty()) return;
  if (const at::Tensor& first = weights[0].grad_out; first.is_cuda()) {
    kernels::cuda::block_scale_backward(items_of(weights), real_of(first), tensor::current_stream(first));
    return;
  }
  for (const Scaled& w : weights) {
    AT_DISPATCH_FLOATING_TYPES(w.grad_weight.scalar_type(), "block_scale_backward", [&] {
      tensor::share_columns(w.layout, [&](int64_t begin, int64_t end) {
        kernels::block_scale_backward(w.layout, w.grad_out.data_ptr<scalar_t>(),
                                      w.weight.data_ptr<scalar_t>(), static_cast<const scalar_t*>(w.gate),
                                      data_or_null<uint8_t>(w.active), w.grad_weight.data_ptr<scalar_t>(),
                                      static_cast<scalar_t*>(w.grad_gate), begin, end);
      });
    });
  }
}

}  // namespace hewn::prune
