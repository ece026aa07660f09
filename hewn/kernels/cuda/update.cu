#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/cuda/launch.cuh"
#include "hewn/kernels/cuda/update_rule.cuh"

namespace hewn::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void update_kernel(Constants rule, Layout layout, const uint8_t* active, const float* grad,
                              float* weight, float* first, float* second, const float* grad_scale,
                              int64_t elements) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= elements) return;
  if (active != nullptr && active[layout.block_of(i)] == 0) return;
  const float scale = grad_scale == nullptr ? 1.0f : *grad_scale;
  rule.apply(scale * grad[i], weight + i, first + i, second + i);
}

}  // namespace

void update(const UpdateRule& rule, const WeightLayout& layout, const uint8_t* active, const float* grad,
            float* weight, float* first, float* second, const float* grad_scale, int64_t elements,
            void* stream) {
  if (elements == 0) return;
  const auto blocks = static_cast<unsigned>((elements + kThreads - 1) / kThreads);
  update_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      Constants(rule), Layout(layout), active, grad, weight, first, second, grad_scale, elements);
  check_launch("update");
}

}  // namespace hewn::kernels::cuda
