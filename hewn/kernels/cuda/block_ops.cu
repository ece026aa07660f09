// One CUDA block per block of the grid: it walks its tile row-fastest, so that a Linear's or a channels-last
// convolution's reads are contiguous, and sums in a fixed order, so that results repeat bit for bit.
#include <cuda_bf16.h>

#include <algorithm>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda {
namespace {

constexpr int kThreads = 128;

struct Tile {
  unsigned top, left, height, width;

  __device__ Tile(const Layout& layout, unsigned block)
      : top(block / layout.col_blocks * layout.block_rows),
        left(layout.first_col(block % layout.col_blocks)),
        height(min(layout.block_rows, layout.rows - top)),
        width(layout.last_col(block % layout.col_blocks) - left) {}

  __device__ unsigned position(const Layout& layout, unsigned i) const {
    return (left + i / height) * layout.rows + layout.offset_of(top + i % height);
  }
};

/// In the first thread.
__device__ float sum_of_block(float value) {
  __shared__ float of_warps[kThreads / 32];
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_down_sync(0xffffffff, value, lane);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (const float part : of_warps) sum += part;
  return sum;
}

/// One layer as the kernels see it.
struct Scaled {
  const float* weight;
  const float* gate;
  const uint8_t* active;
  void* out;
  const void* grad_out;
  float* grad_weight;
  float* grad_gate;
  Layout layout;
  unsigned begin;
};
constexpr int kMost = 64;  // layers in one launch
using ScaledLayers = Batch<Scaled, kMost>;

template <class T>
__global__ void scale(const __grid_constant__ ScaledLayers layers) {
  const Scaled& layer = layers.of(blockIdx.x);
  const unsigned block = blockIdx.x - layer.begin;
  const Tile tile(layer.layout, block);
  const bool on = layer.active == nullptr || layer.active[block] != 0;
  const float g = layer.gate == nullptr ? 1.0f : layer.gate[block];
  T* out = static_cast<T*>(layer.out);
  for (unsigned i = threadIdx.x; i < tile.height * tile.width; i += kThreads) {
    const unsigned at = tile.position(layer.layout, i);
    out[at] = static_cast<T>(on ? g * layer.weight[at] : 0.0f);
  }
}

template <class T>
__global__ void scale_backward(const __grid_constant__ ScaledLayers layers) {
  const Scaled& layer = layers.of(blockIdx.x);
  const unsigned block = blockIdx.x - layer.begin;
  const Tile tile(layer.layout, block);
  const bool on = layer.active == nullptr || layer.active[block] != 0;
  const float g = layer.gate == nullptr ? 1.0f : layer.gate[block];
  const T* grad_out = static_cast<const T*>(layer.grad_out);
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < tile.height * tile.width; i += kThreads) {
    const unsigned at = tile.position(layer.layout, i);
    const float dy = on ? static_cast<float>(grad_out[at]) : 0.0f;
    layer.grad_weight[at] = on ? g * dy : 0.0f;
    if (on) sum += dy * layer.weight[at];
  }
  if (layer.grad_gate == nullptr) return;
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) layer.grad_gate[block] = sum;
}

struct Restored {
  float* weight;
  const float* held;
  const uint8_t* active;
  Layout layout;
  unsigned begin;
};
using RestoredLayers = Batch<Restored, kMost>;

__global__ void restore(const __grid_constant__ RestoredLayers layers) {
  const Restored& layer = layers.of(blockIdx.x);
  const unsigned block = blockIdx.x - layer.begin;
  if (layer.active[block] != 0) return;
  const Tile tile(layer.layout, block);
  for (unsigned i = threadIdx.x; i < tile.height * tile.width; i += kThreads) {
    const unsigned at = tile.position(layer.layout, i);
    layer.weight[at] = layer.held[at];
  }
}

/// The sum of the tile's squared weights, in the first thread.
__device__ float sum_of_squares(const Layout& layout, const float* weight) {
  const Tile tile(layout, blockIdx.x);
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < tile.height * tile.width; i += kThreads) {
    const float w = weight[tile.position(layout, i)];
    sum += w * w;
  }
  return sum_of_block(sum);
}

__global__ void squares_kernel(Layout layout, const float* weight, float* squares) {
  const float sum = sum_of_squares(layout, weight);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

__global__ void gated_norms_kernel(Layout layout, const float* weight, const float* logits, float* out) {
  const float norm = sqrtf(sum_of_squares(layout, weight));
  if (threadIdx.x == 0) out[blockIdx.x] = logits[blockIdx.x] + logf(fmaxf(norm, kLeastNorm));
}

unsigned grid_size(const WeightLayout& layout) { return static_cast<unsigned>(layout.grid.blocks()); }

/// Calls run with a null pointer of the type that `type` names.
template <class Run>
void with_type(Real type, const Run& run) {
  if (type == Real::kBf16) {
    run(static_cast<__nv_bfloat16*>(nullptr));
  } else {
    run(static_cast<float*>(nullptr));
  }
}

Scaled on_device(const ScaleItem& item) {
  return {item.weight,      item.gate,      item.active,         item.out, item.grad_out,
          item.grad_weight, item.grad_gate, Layout(item.layout), 0};
}

Restored on_device(const RestoreItem& item) {
  return {item.weight, item.held, item.active, Layout(item.layout), 0};
}

/// Runs launch(some) over all items, as many at once as a kernel takes.
template <class Layers, class Item, class Launch>
void in_launches(std::span<const Item> items, const Launch& launch) {
  Layers some;
  for (const Item& item : items) {
    some.add(on_device(item), grid_size(item.layout));
    if (!some.full()) continue;
    launch(some);
    some = {};
  }
  if (some.blocks > 0) launch(some);
}

}  // namespace

bool built() { return true; }

void block_scale(std::span<const ScaleItem> items, Real type, void* stream) {
  in_launches<ScaledLayers>(items, [&](const ScaledLayers& layers) {
    with_type(type,
              [&]<class T>(T*) { scale<T><<<layers.blocks, kThreads, 0, as_stream(stream)>>>(layers); });
    check_launch("block_scale");
  });
}

void block_scale_backward(std::span<const ScaleItem> items, Real type, void* stream) {
  in_launches<ScaledLayers>(items, [&](const ScaledLayers& layers) {
    with_type(type, [&]<class T>(T*) {
      scale_backward<T><<<layers.blocks, kThreads, 0, as_stream(stream)>>>(layers);
    });
    check_launch("block_scale_backward");
  });
}

void block_scale(const WeightLayout& layout, const float* weight, const float* gate, const uint8_t* active,
                 void* out, Real type, void* stream) {
  ScaleItem item{weight, gate, active, layout};
  item.out = out;
  block_scale(std::span(&item, 1), type, stream);
}

void block_scale_backward(const WeightLayout& layout, const void* grad_out, Real type, const float* weight,
                          const float* gate, const uint8_t* active, float* grad_weight, float* grad_gate,
                          void* stream) {
  const ScaleItem item{weight, gate, active, layout, nullptr, grad_out, grad_weight, grad_gate};
  block_scale_backward(std::span(&item, 1), type, stream);
}

void block_squares(const WeightLayout& layout, const float* weight, float* squares, void* stream) {
  squares_kernel<<<grid_size(layout), kThreads, 0, as_stream(stream)>>>(Layout(layout), weight, squares);
  check_launch("block_squares");
}

void gated_norms(const WeightLayout& layout, const float* weight, const float* logits, float* out,
                 void* stream) {
  gated_norms_kernel<<<grid_size(layout), kThreads, 0, as_stream(stream)>>>(Layout(layout), weight, logits,
                                                                            out);
  check_launch("gated_norms");
}

void restore_blocks(std::span<const RestoreItem> items, void* stream) {
  in_launches<RestoredLayers>(items, [&](const RestoredLayers& layers) {
    restore<<<layers.blocks, kThreads, 0, as_stream(stream)>>>(layers);
    check_launch("restore_blocks");
  });
}

}  // namespace hewn::kernels::cuda
