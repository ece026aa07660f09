// All tensors of a network in one launch: most are so small that launching costs more than updating.
#include <algorithm>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/cuda/launch.cuh"
#include "hewn/kernels/cuda/update_rule.cuh"

namespace hewn::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kChunk = 4096;  // elements per CUDA block
constexpr int kMost = 256;        // tensors in one launch: what fits into a kernel's arguments

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

__global__ void update_kernel(const __grid_constant__ Batch<Item, kMost> items, Constants rule,
                              const float* step, const float* grad_scale) {
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
  const auto run = [&](const Batch<Item, kMost>& items) {
    if (items.blocks == 0) return;
    update_kernel<<<items.blocks, kThreads, 0, as_stream(stream)>>>(items, Constants(rule), step, grad_scale);
    check_launch("update");
  };
  Batch<Item, kMost> items;
  for (const UpdateItem& t : tensors) {
    if (t.elements == 0) continue;
    items.add({t.grad, t.weight, t.first, t.second, t.active, t.elements, Layout(t.layout), Rates(t), 0},
              static_cast<unsigned>((t.elements + kChunk - 1) / kChunk));
    if (!items.full()) continue;
    run(items);
    items = {};
  }
  run(items);
}

}  // namespace hewn::kernels::cuda
