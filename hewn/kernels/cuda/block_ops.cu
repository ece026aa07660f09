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

__device__ float sum_of_block(float value) {
  __shared__ float shared[kThreads];
  shared[threadIdx.x] = value;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  return shared[0];
}

template <class T>
__global__ void scale(Layout layout, const float* weight, const float* gate, const uint8_t* active, T* out) {
  const unsigned block = blockIdx.x;
  const Tile tile(layout, block);
  const bool on = active == nullptr || active[block] != 0;
  const float g = gate == nullptr ? 1.0f : gate[block];
  for (unsigned i = threadIdx.x; i < tile.height * tile.width; i += kThreads) {
    const unsigned at = tile.position(layout, i);
    out[at] = static_cast<T>(on ? g * weight[at] : 0.0f);
  }
}

template <class T>
__global__ void scale_backward(Layout layout, const T* grad_out, const float* weight, const float* gate,
                               const uint8_t* active, float* grad_weight, float* grad_gate) {
  const unsigned block = blockIdx.x;
  const Tile tile(layout, block);
  const bool on = active == nullptr || active[block] != 0;
  const float g = gate == nullptr ? 1.0f : gate[block];
  float sum = 0.0f;
  for (unsigned i = threadIdx.x; i < tile.height * tile.width; i += kThreads) {
    const unsigned at = tile.position(layout, i);
    const float dy = on ? static_cast<float>(grad_out[at]) : 0.0f;
    grad_weight[at] = on ? g * dy : 0.0f;
    if (on) sum += dy * weight[at];
  }
  if (grad_gate == nullptr) return;
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) grad_gate[block] = sum;
}

struct Restored {
  float* weight;
  const float* held;
  const uint8_t* active;
  Layout layout;
};
constexpr size_t kMostRestored = 48;  // layers in one launch, as arguments of the kernel
struct RestoredLayers {
  Restored at[kMostRestored];
};

__global__ void restore(const __grid_constant__ RestoredLayers layers) {
  const Restored& layer = layers.at[blockIdx.y];
  const unsigned block = blockIdx.x;
  if (block >= layer.layout.row_blocks * layer.layout.col_blocks || layer.active[block] != 0) return;
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

}  // namespace

bool built() { return true; }

void block_scale(const WeightLayout& layout, const float* weight, const float* gate, const uint8_t* active,
                 void* out, Real type, void* stream) {
  with_type(type, [&]<class T>(T*) {
    scale<<<grid_size(layout), kThreads, 0, as_stream(stream)>>>(Layout(layout), weight, gate, active,
                                                                 static_cast<T*>(out));
  });
  check_launch("block_scale");
}

void block_scale_backward(const WeightLayout& layout, const void* grad_out, Real type, const float* weight,
                          const float* gate, const uint8_t* active, float* grad_weight, float* grad_gate,
                          void* stream) {
  with_type(type, [&]<class T>(T*) {
    scale_backward<<<grid_size(layout), kThreads, 0, as_stream(stream)>>>(
        Layout(layout), static_cast<const T*>(grad_out), weight, gate, active, grad_weight, grad_gate);
  });
  check_launch("block_scale_backward");
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
  while (!items.empty()) {
    RestoredLayers some;
    const size_t count = std::min(items.size(), kMostRestored);
    unsigned blocks = 0;
    for (size_t i = 0; i < count; ++i) {
      some.at[i] = {items[i].weight, items[i].held, items[i].active, Layout(items[i].layout)};
      blocks = std::max(blocks, static_cast<unsigned>(items[i].layout.grid.blocks()));
    }
    restore<<<dim3(blocks, static_cast<unsigned>(count)), kThreads, 0, as_stream(stream)>>>(some);
    check_launch("restore_blocks");
    items = items.subspan(count);
  }
}

}  // namespace hewn::kernels::cuda
