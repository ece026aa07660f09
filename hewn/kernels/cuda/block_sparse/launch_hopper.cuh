#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "hewn/kernels/cuda/block_sparse/multiply.h"
#include "hewn/kernels/cuda/block_sparse/multiply_hopper.cuh"
#include "hewn/kernels/cuda/block_sparse/tensor_map.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda::block_sparse {

template <class T, int kTile>
void launch_hopper(const Product& product, const void* lists, const void* values, const Samples& samples,
                   void* stream) {
  using R = Room<kTile>;
  const auto kernel = multiply_kernel<T, R>;
  // As many thread blocks as run at the same time: one that had to wait would find nothing left to do.
  static const int together = [&] {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, R::kBytes);
    int count = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, R::kThreads, R::kBytes);
    return std::max(1, count * multiprocessors());
  }();
  const Tiling tiling(product);
  const unsigned tasks =
      static_cast<unsigned>((samples.samples + R::kRows - 1) / R::kRows) * tiling.wide_tiles;
  const CUtensorMap map = tensor_map(product.type, samples.x, {samples.samples, product.inputs()},
                                     {R::kRows, R::kChunk / bytes_of(product.type)});
  kernel<<<std::min(tasks, static_cast<unsigned>(together)), R::kThreads, R::kBytes, as_stream(stream)>>>(
      tiling, Lists(const_cast<void*>(lists), tiling), map, static_cast<const uint8_t*>(values),
      target_of(product, samples), tasks);
  check_launch("block_sparse::multiply");
}

template <class T>
void launch_tile(const Product& product, const void* lists, const void* values, const Samples& samples,
                 void* stream) {
  if (product.tile == 128) return launch_hopper<T, 128>(product, lists, values, samples, stream);
  if (product.tile == 64) return launch_hopper<T, 64>(product, lists, values, samples, stream);
  launch_hopper<T, 32>(product, lists, values, samples, stream);
}

}  // namespace hewn::kernels::cuda::block_sparse
