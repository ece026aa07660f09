#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "hewn/kernels/cuda/block_sparse/multiply.h"
#include "hewn/kernels/cuda/block_sparse/multiply_hopper.cuh"
#include "hewn/kernels/cuda/block_sparse/tensor_map.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda::block_sparse {

/// What find_tiles and pack made of a weight.
struct PackedWeight {
  const void* lists;
  const void* values;
};

/// Samples in the form in which a kernel's copy engine reads them: boxes of that many rows and inputs.
struct MatrixSource {
  const Product& product;
  const Samples& samples;

  CUtensorMap map(Extents box) const {
    return tensor_map(product.type, samples.x, {samples.samples, product.inputs()}, box);
  }
  MatrixRows rows(Extents /*box*/) const { return {}; }
};
struct ImageSource {
  const Product& product;
  const Images& images;
  const void* pixels;

  CUtensorMap map(Extents box) const {
    return image_map(product.type, pixels, product.inputs() / images.geometry.taps(), images, box);
  }
  KernelWindows rows(Extents box) const { return {product, images, box.cols}; }
};

template <class T, int kTile, class Source>
void launch_hopper(const Product& product, const PackedWeight& weight, const Samples& samples,
                   const Source& source, void* stream) {
  using R = Room<kTile>;
  constexpr Extents kBox{R::kRows, R::kChunk / sizeof(T)};
  const auto rows = source.rows(kBox);
  const auto kernel = multiply_kernel<T, R, std::remove_const_t<decltype(rows)>>;
  // As many thread blocks as run at the same time: one that had to wait would find nothing left to do.
  const int together = known_on_device(reinterpret_cast<const void*>(kernel), [&] {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, R::kBytes);
    int count = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, kernel, R::kThreads, R::kBytes);
    return std::max(1, count * multiprocessors());
  });
  const Tiling tiling(product);
  const unsigned tasks =
      static_cast<unsigned>((samples.samples + R::kRows - 1) / R::kRows) * tiling.wide_tiles;
  kernel<<<std::min(tasks, static_cast<unsigned>(together)), R::kThreads, R::kBytes, as_stream(stream)>>>(
      {tiling, Lists(const_cast<void*>(weight.lists), tiling), static_cast<const uint8_t*>(weight.values),
       tasks},
      source.map(kBox), rows, target_of(product, samples));
  check_launch("block_sparse::multiply");
}

template <class T, class Source>
void launch_tile(const Product& product, const PackedWeight& weight, const Samples& samples,
                 const Source& source, void* stream) {
  if (product.tile == 128) return launch_hopper<T, 128>(product, weight, samples, source, stream);
  if (product.tile == 64) return launch_hopper<T, 64>(product, weight, samples, source, stream);
  launch_hopper<T, 32>(product, weight, samples, source, stream);
}

}  // namespace hewn::kernels::cuda::block_sparse
