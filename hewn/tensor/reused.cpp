#include "hewn/tensor/reused.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/set.h>

namespace hewn::tensor {

at::Tensor Reused::like(const at::Tensor& pattern) {
  const std::lock_guard<std::mutex> lock(guard_);
  const bool fits = last_.defined() && last_.sizes() == pattern.sizes() &&
                    last_.strides() == pattern.strides() && last_.scalar_type() == pattern.scalar_type() &&
                    last_.storage().use_count() == 1;
  if (!fits) last_ = at::empty_like(pattern, pattern.options().requires_grad(false));
  // A tensor of its own on the same memory: what the last one's holder knew of it must not come back.
  at::Tensor out = at::empty({0}, last_.options());
  out.set_(last_.storage(), 0, last_.sizes(), last_.strides());
  return out;
}

}  // namespace hewn::tensor
