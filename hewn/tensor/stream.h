#pragma once

#include <ATen/core/Tensor.h>

namespace hewn::tensor {

/// The CUDA stream on which LibTorch queues work for this tensor's device; null in a build without CUDA.
void* current_stream(const at::Tensor& tensor);

/// Where work queued now goes: a stream, and the recording under way on it, if any.
struct Queue {
  void* stream = nullptr;
  unsigned long long recording = 0;
  bool operator==(const Queue&) const = default;
};
Queue current_queue(const at::Tensor& tensor);

}  // namespace hewn::tensor
