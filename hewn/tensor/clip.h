#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace hewn::tensor {

/// Gradients as they are clipped: of a sparse one its values.
at::Tensor values_of(const at::Tensor& gradient);

/// min(1, limit / norm) of all together, on the device of the first and without waiting for it.
at::Tensor clip_factor(const std::vector<at::Tensor>& gradients, double limit);

/// Scales all down to a norm of `limit` together. On the CPU, where looking at the norm costs nothing, those
/// that are small enough are not written.
void clip(const std::vector<at::Tensor>& gradients, double limit);

}  // namespace hewn::tensor
