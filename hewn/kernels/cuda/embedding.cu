#include <cmath>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/cuda/launch.cuh"
#include "hewn/kernels/cuda/update_rule.cuh"

namespace hewn::kernels::cuda {
namespace {

constexpr int kThreads = 256;
// Sorted rows that one group of threads sums: long enough to divide the work of a frequent row, short enough
// to keep thousands of groups busy.
constexpr int64_t kPiece = 64;

unsigned blocks_for(int64_t threads) { return static_cast<unsigned>((threads + kThreads - 1) / kThreads); }

__device__ int64_t thread_number() { return static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; }

__global__ void embed_kernel(int64_t fields, int64_t width, const int64_t* first, const float* table,
                             const int32_t* values, int64_t elements, float* out) {
  const int64_t i = thread_number();
  if (i >= elements) return;
  const int64_t position = i / width;
  const int64_t field = position % fields;
  const int64_t value = values[position];
  const bool known = value >= 0 && value < first[field + 1] - first[field];
  out[i] = known ? table[(first[field] + value) * width + i % width] : nanf("");
}

/// Sums equal rows within one piece, into the first of them.
__global__ void sum_pieces(const int32_t* rows, const int64_t* order, int64_t count, int64_t width,
                           const float* grad, float* sums) {
  const int64_t thread = thread_number();
  const int64_t begin = thread / width * kPiece;
  const int64_t d = thread % width;
  if (begin >= count) return;
  const int64_t end = min(begin + kPiece, count);
  int64_t head = begin;
  float sum = 0.0f;
  for (int64_t i = begin; i < end; ++i) {
    if (rows[i] != rows[head]) {
      sums[head * width + d] = sum;
      head = i;
      sum = 0.0f;
    }
    sum += grad[order[i] * width + d];
    if (i != head) sums[i * width + d] = 0.0f;
  }
  sums[head * width + d] = sum;
}

/// Adds what the pieces behind hold of a row to its first position.
__global__ void join_pieces(const int32_t* rows, int64_t count, int64_t width, float* sums) {
  const int64_t thread = thread_number();
  const int64_t next = (thread / width + 1) * kPiece;  // first position behind this piece
  const int64_t d = thread % width;
  if (next >= count || rows[next] != rows[next - 1]) return;
  int64_t head = next - 1;
  while (head > next - kPiece && rows[head - 1] == rows[next]) --head;
  // A piece that only continues the row is summed by the piece where the row begins.
  if (head == next - kPiece && head > 0 && rows[head - 1] == rows[next]) return;
  float sum = sums[head * width + d];
  for (int64_t i = next; i < count && rows[i] == rows[head]; i += kPiece) {
    sum += sums[i * width + d];
    sums[i * width + d] = 0.0f;
  }
  sums[head * width + d] = sum;
}

__global__ void update_rows_kernel(Constants rule, Rates rates, const float* step, const int64_t* rows,
                                   int64_t count, int64_t width, const float* grad, float* weight,
                                   float* first, float* second, const float* grad_scale) {
  const int64_t thread = thread_number();
  const int64_t i = thread / width;
  if (i >= count || (i > 0 && rows[i] == rows[i - 1])) return;
  const float scale = grad_scale == nullptr ? 1.0f : *grad_scale;
  const int64_t at = rows[i] * width + thread % width;
  Rule(rule, rates, step).apply(scale * grad[thread], weight + at, first + at, second + at);
}

}  // namespace

void embed(int64_t fields, int64_t width, const int64_t* first, const float* table, const int32_t* values,
           int64_t samples, float* out, void* stream) {
  const int64_t elements = samples * fields * width;
  if (elements == 0) return;
  embed_kernel<<<blocks_for(elements), kThreads, 0, as_stream(stream)>>>(fields, width, first, table, values,
                                                                         elements, out);
  check_launch("embed");
}

void sum_sorted_rows(const int32_t* rows, const int64_t* order, int64_t count, int64_t width,
                     const float* grad, float* sums, void* stream) {
  if (count == 0) return;
  const auto queue = as_stream(stream);
  const unsigned blocks = blocks_for((count + kPiece - 1) / kPiece * width);
  sum_pieces<<<blocks, kThreads, 0, queue>>>(rows, order, count, width, grad, sums);
  join_pieces<<<blocks, kThreads, 0, queue>>>(rows, count, width, sums);
  check_launch("sum_sorted_rows");
}

void update_sorted_rows(const UpdateRule& rule, const float* step, const UpdateRates& rates,
                        const int64_t* rows, int64_t count, int64_t width, const float* grad, float* weight,
                        float* first, float* second, const float* grad_scale, void* stream) {
  if (count == 0) return;
  update_rows_kernel<<<blocks_for(count * width), kThreads, 0, as_stream(stream)>>>(
      Constants(rule), Rates(rates), step, rows, count, width, grad, weight, first, second, grad_scale);
  check_launch("update_sorted_rows");
}

}  // namespace hewn::kernels::cuda
