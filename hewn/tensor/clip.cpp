#include "hewn/tensor/clip.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>

#include <algorithm>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/tensor/stream.h"

namespace hewn::tensor {
namespace {

using kernels::cuda::Row;

/// Whether the kernels of this build can do it.
bool on_one_gpu(const std::vector<at::Tensor>& gradients) {
  const at::Device device = gradients.front().device();
  return kernels::cuda::built() && device.is_cuda() &&
         std::all_of(gradients.begin(), gradients.end(), [&](const at::Tensor& gradient) {
           return gradient.device() == device && gradient.scalar_type() == at::kFloat &&
                  gradient.is_non_overlapping_and_dense();
         });
}

std::vector<Row> rows_of(const std::vector<at::Tensor>& gradients) {
  std::vector<Row> rows;
  rows.reserve(gradients.size());
  for (const at::Tensor& gradient : gradients) rows.push_back({gradient.data_ptr<float>(), gradient.numel()});
  return rows;
}

at::Tensor factor_on_gpu(const std::vector<Row>& rows, double limit, const at::Tensor& like) {
  at::Tensor factor = at::empty({}, like.options().requires_grad(false));
  const at::Tensor memory = at::empty({kernels::cuda::clip_memory(rows)}, factor.options());
  kernels::cuda::clip_factor(rows, limit, memory.data_ptr<float>(), factor.data_ptr<float>(),
                             current_stream(factor));
  return factor;
}

}  // namespace

at::Tensor values_of(const at::Tensor& gradient) {
  return gradient.is_sparse() ? gradient._values() : gradient;
}

at::Tensor clip_factor(const std::vector<at::Tensor>& gradients, double limit) {
  if (gradients.empty()) return at::ones({});
  if (on_one_gpu(gradients)) return factor_on_gpu(rows_of(gradients), limit, gradients.front());
  std::vector<at::Tensor> norms = at::_foreach_norm(gradients);
  for (at::Tensor& norm : norms) norm = norm.to(gradients.front().device());
  return (limit / (at::stack(norms).norm() + 1e-6)).clamp_max(1.0);
}

void clip(const std::vector<at::Tensor>& gradients, double limit) {
  if (gradients.empty()) return;
  const at::NoGradGuard no_grad;
  if (on_one_gpu(gradients)) {
    const std::vector<Row> rows = rows_of(gradients);
    const at::Tensor factor = factor_on_gpu(rows, limit, gradients.front());
    kernels::cuda::multiply_rows(rows, factor.data_ptr<float>(), current_stream(factor));
    return;
  }
  const at::Tensor factor = clip_factor(gradients, limit);
  if (factor.is_cpu() && factor.item<double>() == 1.0) return;
  for (const at::Tensor& gradient : gradients) gradient.mul_(factor.to(gradient.device()));
}

}  // namespace hewn::tensor
