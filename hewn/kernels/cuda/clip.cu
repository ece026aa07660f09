// The norm of all gradients of a network, and their scaling: a chunk of a row for each CUDA block, many rows
// in one launch.
#include <cmath>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int64_t kChunk = 16384;  // numbers per CUDA block
constexpr int kMost = 256;         // rows in one launch

struct Part {
  float* values;
  int64_t count;
  unsigned begin;
};
using Parts = Batch<Part, kMost>;

unsigned chunks_of(const Row& row) { return static_cast<unsigned>((row.count + kChunk - 1) / kChunk); }

/// In the first thread.
template <class T>
__device__ T sum_of_block(T value) {
  __shared__ T of_warps[kThreads / 32];
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_down_sync(0xffffffff, value, lane);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  T sum = 0;
  for (const T part : of_warps) sum += part;
  return sum;
}

/// Calls run(value) for each number of this CUDA block's chunk.
template <class Run>
__device__ void over_chunk(const Parts& parts, const Run& run) {
  const Part& part = parts.of(blockIdx.x);
  const int64_t begin = (blockIdx.x - part.begin) * kChunk;
  const int64_t end = min(begin + kChunk, part.count);
  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) run(part.values[i]);
}

__global__ void squares_kernel(const __grid_constant__ Parts parts, float* out) {
  float sum = 0.0f;
  over_chunk(parts, [&](float value) { sum += value * value; });
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void factor_kernel(const float* squares, unsigned count, float limit, float* factor) {
  double sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += kThreads) sum += squares[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) {
    const float scale = limit / (static_cast<float>(sqrt(sum)) + 1e-6f);
    *factor = scale > 1.0f ? 1.0f : scale;  // NaN stays, as in a product with it
  }
}

__global__ void multiply_kernel(const __grid_constant__ Parts parts, const float* factor) {
  const float scale = *factor;
  if (scale == 1.0f) return;
  over_chunk(parts, [&](float& value) { value *= scale; });
}

/// Runs launch(parts, first), `first` being the number of the first of their CUDA blocks among all.
template <class Launch>
void in_launches(std::span<const Row> rows, const Launch& launch) {
  Parts parts;
  unsigned first = 0;
  const auto flush = [&] {
    if (parts.blocks > 0) launch(parts, first);
    first += parts.blocks;
    parts = {};
  };
  for (const Row& row : rows) {
    if (row.count == 0) continue;
    parts.add({row.values, row.count, 0}, chunks_of(row));
    if (parts.full()) flush();
  }
  flush();
}

}  // namespace

int64_t clip_memory(std::span<const Row> rows) {
  int64_t chunks = 0;
  for (const Row& row : rows) chunks += chunks_of(row);
  return chunks;
}

void clip_factor(std::span<const Row> rows, double limit, float* memory, float* factor, void* stream) {
  in_launches(rows, [&](const Parts& parts, unsigned first) {
    squares_kernel<<<parts.blocks, kThreads, 0, as_stream(stream)>>>(parts, memory + first);
    check_launch("clip_factor");
  });
  factor_kernel<<<1, kThreads, 0, as_stream(stream)>>>(memory, static_cast<unsigned>(clip_memory(rows)),
                                                       static_cast<float>(limit), factor);
  check_launch("clip_factor");
}

void multiply_rows(std::span<const Row> rows, const float* factor, void* stream) {
  in_launches(rows, [&](const Parts& parts, unsigned) {
    multiply_kernel<<<parts.blocks, kThreads, 0, as_stream(stream)>>>(parts, factor);
    check_launch("multiply_rows");
  });
}

}  // namespace hewn::kernels::cuda
