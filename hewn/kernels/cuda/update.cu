// All tensors of a network in one launch: most are so small that launching costs more than updating.
#include <algorithm>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/cuda/launch.cuh"
#include "hewn/kernels/cuda/update_rule.cuh"

namespace hewn::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kChunk = 4096;  // elements per CUDA block
constexpr size_t kMost = 256;     // tensors in one launch: what fits into a kernel's arguments

/// One tensor, and the first of the CUDA blocks that work on it.
struct Item {
  const float* grad;
  float* weight;
  float* first;
  float* second;
  const uint8_t* active;
  int64_t elements;
  Layout layout;
  Rates rates;
  unsigned begin;
};

struct Items {
  Item at[kMost];
  int count;

  __device__ const Item& of(unsigned block) const {
    int low = 0;
    for (int high = count; high - low > 1;) {
      const int middle = (low + high) / 2;
      (at[middle].begin <= block ? low : high) = middle;
    }
    return at[low];
  }
};

__global__ void update_kernel(const __grid_constant__ Items items, Constants rule, const float* step,
                              const float* grad_scale) {
  const Item& item = items.of(blockIdx.x);
  const Rule own(rule, item.rates, step);
  const float scale = grad_scale == nullptr ? 1.0f : *grad_scale;
  const int64_t begin = (blockIdx.x - item.begin) * kChunk;
  const int64_t end = min(begin + kChunk, item.elements);
  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
    if (item.active != nullptr && item.active[item.layout.block_of(static_cast<unsigned>(i))] == 0) continue;
    own.apply(scale * item.grad[i], item.weight + i, item.first + i, item.second + i);
  }
}

__global__ void set_step_kernel(float* step, float lr, float correction1, float correction2) {
  step[0] = lr;
  step[1] = lr / correction1;
  step[2] = 1.0f / sqrtf(correction2);
}

}  // namespace

void set_step(const UpdateRule& rule, float* step, void* stream) {
  set_step_kernel<<<1, 1, 0, as_stream(stream)>>>(step, static_cast<float>(rule.lr),
                                                  static_cast<float>(rule.correction1),
                                                  static_cast<float>(rule.correction2));
  check_launch("set_step");
}

void update(const UpdateRule& rule, const float* step, std::span<const UpdateItem> tensors,
            const float* grad_scale, void* stream) {
  for (size_t from = 0; from < tensors.size(); from += kMost) {
    Items items;
    unsigned blocks = 0;
    items.count = 0;
    for (const UpdateItem& t : tensors.subspan(from, std::min(kMost, tensors.size() - from))) {
      if (t.elements == 0) continue;
      items.at[items.count++] = {t.grad,     t.weight,         t.first,  t.second, t.active,
                                 t.elements, Layout(t.layout), Rates(t), blocks};
      blocks += static_cast<unsigned>((t.elements + kChunk - 1) / kChunk);
    }
    if (blocks == 0) continue;
    update_kernel<<<blocks, kThreads, 0, as_stream(stream)>>>(items, Constants(rule), step, grad_scale);
    check_launch("update");
  }
}

}  // namespace hewn::kernels::cuda
