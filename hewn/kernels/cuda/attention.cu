// One CUDA block per layer: a layer has some thousand blocks at most, and a network many layers, so that
// launching costs more than computing. Sums run in a fixed order.
#include <algorithm>
#include <cmath>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda {
namespace {

constexpr int kThreads = 1024;
constexpr size_t kMost = 64;  // layers in one launch, as arguments of the kernel

struct Items {
  AttentionItem at[kMost];
};

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

__global__ void attention_kernel(const __grid_constant__ Items items) {
  const AttentionItem& layer = items.at[blockIdx.x];
  const int count = static_cast<int>(layer.blocks);
  const float top = reduce_over<Largest>(count, [&](int i) { return layer.logits[i]; });
  const float sum = reduce_over<Sum>(count, [&](int i) { return expf(layer.logits[i] - top); });
  const float factor = static_cast<float>(count) / sum;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    const float a = expf(layer.logits[i] - top) * factor;
    layer.attention[i] = a;
    layer.gate[i] = fminf(fmaxf(a, layer.low), layer.high);
  }
}

__global__ void backward_kernel(const __grid_constant__ Items items) {
  const AttentionItem& layer = items.at[blockIdx.x];
  const int count = static_cast<int>(layer.blocks);
  const auto passed = [&](int i) {
    return layer.attention[i] >= layer.low && layer.attention[i] <= layer.high ? layer.gate[i] : 0.0f;
  };
  const float mean = reduce_over<Sum>(count, [&](int i) { return layer.attention[i] * passed(i); }) /
                     static_cast<float>(count);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
    layer.logits[i] = layer.attention[i] * (passed(i) - mean);
  }
}

template <class Kernel>
void launch(std::span<const AttentionItem> items, Kernel kernel, const char* what, void* stream) {
  while (!items.empty()) {
    Items some;
    const size_t count = std::min(items.size(), kMost);
    std::copy_n(items.begin(), count, some.at);
    kernel<<<static_cast<unsigned>(count), kThreads, 0, as_stream(stream)>>>(some);
    check_launch(what);
    items = items.subspan(count);
  }
}

}  // namespace

void attention(std::span<const AttentionItem> items, void* stream) {
  launch(items, attention_kernel, "attention", stream);
}

void attention_backward(std::span<const AttentionItem> items, void* stream) {
  launch(items, backward_kernel, "attention_backward", stream);
}

}  // namespace hewn::kernels::cuda
