#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

namespace hewn::tensor {

/// The CUDA stream on which LibTorch queues work for a tensor's device; null in a build without CUDA. Kernels
/// are launched on the current device, which is the tensor's as long as this lives.
class CurrentStream {
 public:
  explicit CurrentStream(const at::Tensor& tensor);
  operator void*() const { return stream_; }

 private:
  c10::OptionalDeviceGuard device_;
  void* stream_ = nullptr;
};
inline CurrentStream current_stream(const at::Tensor& tensor) { return CurrentStream(tensor); }

/// Where work queued now goes: a stream, and the recording under way on it, if any.
struct Queue {
  void* stream = nullptr;
  unsigned long long recording = 0;
  bool operator==(const Queue&) const = default;
};
Queue current_queue(const at::Tensor& tensor);

}  // namespace hewn::tensor
