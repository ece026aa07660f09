#include "hewn/tensor/stream.h"

#ifdef HEWN_CUDA
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#endif

namespace hewn::tensor {

#ifdef HEWN_CUDA
CurrentStream::CurrentStream(const at::Tensor& tensor)
    : stream_(c10::cuda::getCurrentCUDAStream(tensor.device().index()).stream()) {
  if (tensor.is_cuda()) device_.reset_device(tensor.device());
}

Queue current_queue(const at::Tensor& tensor) {
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream(tensor.device().index()).stream();
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  C10_CUDA_CHECK(cudaStreamGetCaptureInfo(stream, &status, &id));
  return {stream, status == cudaStreamCaptureStatusActive ? id : 0};
}
#else
CurrentStream::CurrentStream(const at::Tensor&) {}
Queue current_queue(const at::Tensor&) { return {}; }
#endif

}  // namespace hewn::tensor
