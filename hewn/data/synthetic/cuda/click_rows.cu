#include "hewn/data/synthetic/cuda/click_rows.h"

#include "hewn/data/synthetic/click_row-inl.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::data::cuda {
namespace {

constexpr int kThreads = 64;  // small blocks: a batch of 8192 rows reaches all multiprocessors

__global__ void click_rows_kernel(ClickTruth truth, ClickStream stream, int64_t first, int64_t count,
                                  int32_t* input, float* target) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  target[i] = click_row(truth, stream, first + i, input + i * kClickFields).target;
}

}  // namespace

void click_rows(const ClickTruth& truth, const ClickStream& rows, int64_t first, int64_t count,
                int32_t* input, float* target, void* stream) {
  if (count == 0) return;  // CUDA launches no empty grids
  const auto blocks = static_cast<unsigned>((count + kThreads - 1) / kThreads);
  click_rows_kernel<<<blocks, kThreads, 0, kernels::cuda::as_stream(stream)>>>(truth, rows, first, count,
                                                                               input, target);
  kernels::cuda::check_launch("click_rows");
}

}  // namespace hewn::data::cuda
