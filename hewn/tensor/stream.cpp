#include "hewn/tensor/stream.h"

#ifdef HEWN_CUDA
#include <c10/cuda/CUDAStream.h>
#endif

namespace hewn::tensor {

#ifdef HEWN_CUDA
void* current_stream(const at::Tensor& tensor) {
  return c10::cuda::getCurrentCUDAStream(tensor.device().index()).stream();
}
#else
void* current_stream(const at::Tensor&) { return nullptr; }
#endif

}  // namespace hewn::tensor
