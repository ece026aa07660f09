#pragma once

#include <ATen/core/Tensor.h>

namespace hewn::tensor {

/// The CUDA stream on which LibTorch queues work for this tensor's device; null in a build without CUDA.
void* current_stream(const at::Tensor& tensor);

}  // namespace hewn::tensor
