// One CUDA block per layer: a layer has some thousand blocks at most, and a network many layers, so that
// launching costs more than computing. Sums run in a fixed order.
#include <cmath>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda {
namespace {

constexpr int kThreads = 1024;

struct Sum {
  static constexpr float kStart = 0.0f;
  __device__ static float join(float a, float b) { return a + b; }
};
struct Largest {
  static constexpr float kStart = -INFINITY;
  __device__ static float join(float a, float b) { return fmaxf(a, b); }
};

/// The same result in every thread.
template <class Join>
__device__ float reduce(float value) {
  __shared__ float of_warps[32];
  for (int lane = 16; lane > 0; lane /= 2) {
    value = Join::join(value, __shfl_xor_sync(0xffffffff, value, lane));
  }
  __syncthreads();  // the last result may still be read
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warps[threadIdx.x % 32];
  for (int lane = 16; lane > 0; lane /= 2) {
    value = Join::join(value, __shfl_xor_sync(0xffffffff, value, lane));
  }
  return value;
}

template <class Join, class Term>
__device__ float reduce_over(int count, const Term& term) {
  float value = Join::kStart;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) value = Join::join(value, term(i));
  return reduce<Join>(value);
}

__global__ void attention_kernel(const float* logits, int count, float low, float high, float* attention,
                                 float* gate) {
  const float top = reduce_over<Largest>(count, [&](int i) { return logits[i]; });
  const float sum = reduce_over<Sum>(count, [&](int i) { return expf(logits[i] - top); });
  const float factor = static_cast<float>(count) / sum;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    const float a = expf(logits[i] - top) * factor;
    attention[i] = a;
    gate[i] = fminf(fmaxf(a, low), high);
  }
}

__global__ void backward_kernel(const float* attention, const float* grad, int count, float low, float high,
                                float* grad_logits) {
  const auto passed = [&](int i) { return attention[i] >= low && attention[i] <= high ? grad[i] : 0.0f; };
  const float mean =
      reduce_over<Sum>(count, [&](int i) { return attention[i] * passed(i); }) / static_cast<float>(count);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    grad_logits[i] = attention[i] * (passed(i) - mean);
  }
}

}  // namespace

void attention(const float* logits, int64_t blocks, double low, double high, float* attention, float* gate,
               void* stream) {
  attention_kernel<<<1, kThreads, 0, as_stream(stream)>>>(
      logits, static_cast<int>(blocks), static_cast<float>(low), static_cast<float>(high), attention, gate);
  check_launch("attention");
}

void attention_backward(const float* attention, const float* grad_gate, int64_t blocks, double low,
                        double high, float* grad_logits, void* stream) {
  backward_kernel<<<1, kThreads, 0, as_stream(stream)>>>(attention, grad_gate, static_cast<int>(blocks),
                                                         static_cast<float>(low), static_cast<float>(high),
                                                         grad_logits);
  check_launch("attention_backward");
}

}  // namespace hewn::kernels::cuda
