// One CUDA block per block of the grid: it walks its tile row-fastest, so that a Linear's or a channels-last
// convolution's reads are contiguous, and sums in a fixed order, so that results repeat bit for bit.
#include <algorithm>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda {
namespace {

constexpr int kThreads = 128;

struct Tile {
  int64_t top, left, height, width;

  __device__ Tile(const Layout& layout, int64_t block)
      : top(block / layout.col_blocks * layout.block_rows),
        left(block % layout.col_blocks * layout.block_cols),
        height(min(layout.block_rows, layout.rows - top)),
        width(min(layout.block_cols, layout.cols - left)) {}

  __device__ int64_t place(const Layout& layout, int64_t i) const {
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

__global__ void scale(Layout layout, const float* weight, const float* gate, const uint8_t* active,
                      float* out) {
  const int64_t block = blockIdx.x;
  const Tile tile(layout, block);
  const bool on = active == nullptr || active[block] != 0;
  const float g = gate == nullptr ? 1.0f : gate[block];
  for (int64_t i = threadIdx.x; i < tile.height * tile.width; i += kThreads) {
    const int64_t at = tile.place(layout, i);
    out[at] = on ? g * weight[at] : 0.0f;
  }
}

__global__ void scale_backward(Layout layout, const float* grad_out, const float* weight, const float* gate,
                               const uint8_t* active, float* grad_weight, float* grad_gate) {
  const int64_t block = blockIdx.x;
  const Tile tile(layout, block);
  const bool on = active == nullptr || active[block] != 0;
  const float g = gate == nullptr ? 1.0f : gate[block];
  float sum = 0.0f;
  for (int64_t i = threadIdx.x; i < tile.height * tile.width; i += kThreads) {
    const int64_t at = tile.place(layout, i);
    const float dy = on ? grad_out[at] : 0.0f;
    grad_weight[at] = on ? g * dy : 0.0f;
    if (on) sum += dy * weight[at];
  }
  if (grad_gate == nullptr) return;
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) grad_gate[block] = sum;
}

__global__ void squares_kernel(Layout layout, const float* weight, float* squares) {
  const int64_t block = blockIdx.x;
  const Tile tile(layout, block);
  float sum = 0.0f;
  for (int64_t i = threadIdx.x; i < tile.height * tile.width; i += kThreads) {
    const float w = weight[tile.place(layout, i)];
    sum += w * w;
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) squares[block] = sum;
}

unsigned grid_size(const WeightLayout& layout) { return static_cast<unsigned>(layout.grid.blocks()); }
cudaStream_t as_stream(void* stream) { return static_cast<cudaStream_t>(stream); }

}  // namespace

bool built() { return true; }

void block_scale(const WeightLayout& layout, const float* weight, const float* gate, const uint8_t* active,
                 float* out, void* stream) {
  scale<<<grid_size(layout), kThreads, 0, as_stream(stream)>>>(Layout(layout), weight, gate, active, out);
  check_launch("block_scale");
}

void block_scale_backward(const WeightLayout& layout, const float* grad_out, const float* weight,
                          const float* gate, const uint8_t* active, float* grad_weight, float* grad_gate,
                          void* stream) {
  scale_backward<<<grid_size(layout), kThreads, 0, as_stream(stream)>>>(Layout(layout), grad_out, weight,
                                                                        gate, active, grad_weight, grad_gate);
  check_launch("block_scale_backward");
}

void block_squares(const WeightLayout& layout, const float* weight, float* squares, void* stream) {
  squares_kernel<<<grid_size(layout), kThreads, 0, as_stream(stream)>>>(Layout(layout), weight, squares);
  check_launch("block_squares");
}

}  // namespace hewn::kernels::cuda
