#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "hewn/kernels/cuda/block_sparse/multiply.h"
#include "hewn/kernels/cuda/block_sparse/multiply_hopper.cuh"
#include "hewn/kernels/cuda/block_sparse/tensor_map.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda::block_sparse {

template <class T, int kTile, int kGranule, class C>
void launch_hopper(const Product& product, const void* lists, const void* values, const Samples& samples,
                   void* stream) {
  const auto kernel = multiply_kernel<T, kTile, kGranule, C>;
  using InBlock = Room<kTile>;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {C::kSize, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = {C::kSize, 1, 1};
  config.blockDim = {InBlock::kThreads, 1, 1};
  config.dynamicSmemBytes = InBlock::kBytes;
  config.stream = as_stream(stream);
  config.attrs = &attribute;
  config.numAttrs = 1;
  // As many clusters as run at the same time: one that had to wait for another would do so until its end.
  static const int clusters = [&] {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, InBlock::kBytes);
    int count = 0;
    cudaOccupancyMaxActiveClusters(&count, kernel, &config);
    return std::max(1, count);
  }();
  const Tiling tiling(product);
  const unsigned downs = static_cast<unsigned>((samples.samples + C::kDown * kRows - 1) / (C::kDown * kRows));
  const unsigned tasks = downs * tiling.groups();
  config.gridDim = {std::min(tasks, static_cast<unsigned>(clusters)) * C::kSize, 1, 1};
  const CUtensorMap map = tensor_map(product.type, samples.x, {samples.samples, product.inputs()},
                                     {kRows / C::kAcross, kChunkBytes / bytes_of(product.type)});
  cudaLaunchKernelEx(&config, kernel, tiling, Lists(const_cast<void*>(lists), tiling), map,
                     static_cast<const uint8_t*>(values), target_of(product, samples), tasks);
  check_launch("block_sparse::multiply");
}

/// Two thread blocks share a weight of large tiles; with smaller ones, whose samples or weights are less to
/// load, sharing cost more than it saved.
template <class T>
void launch_tile(const Product& product, const void* lists, const void* values, const Samples& samples,
                 void* stream) {
  using Alone = Cluster<1, 1>;
  using Pair = Cluster<2, 1>;
  constexpr int kSquare = slices_of(32, sizeof(T));
  switch (product.tile) {
    case 128:
      return launch_hopper<T, 128, kSlices, Pair>(product, lists, values, samples, stream);
    case 64:
      return launch_hopper<T, 64, kSlices, Alone>(product, lists, values, samples, stream);
    default:
      break;
  }
  if (product.whole_tiles)
    return launch_hopper<T, 32, kSquare, Alone>(product, lists, values, samples, stream);
  launch_hopper<T, 32, 1, Alone>(product, lists, values, samples, stream);
}

}  // namespace hewn::kernels::cuda::block_sparse
