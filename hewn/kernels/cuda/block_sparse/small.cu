#include <cuda_runtime.h>

#include <algorithm>

#include "hewn/kernels/cuda/block_sparse/multiply.h"
#include "hewn/kernels/cuda/block_sparse/multiply_small.cuh"
#include "hewn/kernels/cuda/block_sparse/tensor_map.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda::block_sparse {
namespace {

template <class T, int kAcross>
void launch(const Product& product, const void* lists, const void* values, const Samples& samples,
            void* stream) {
  const auto kernel = small::multiply_kernel<T, kAcross>;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {kAcross, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = {kAcross, 1, 1};
  config.blockDim = {small::kThreads, 1, 1};
  config.dynamicSmemBytes = small::kBytes;
  config.stream = as_stream(stream);
  config.attrs = &attribute;
  config.numAttrs = 1;
  // As many clusters as run at the same time: one that had to wait for another would do so until its end.
  const int clusters = known_on_device(reinterpret_cast<const void*>(kernel), [&] {
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, small::kBytes);
    int count = 0;
    cudaOccupancyMaxActiveClusters(&count, kernel, &config);
    return std::max(1, count);
  });
  const SmallTiling tiling(product);
  const auto downs = static_cast<unsigned>((samples.samples + small::kRows - 1) / small::kRows);
  const unsigned groups = (tiling.outputs + kAcross * kSmallWide - 1) / (kAcross * kSmallWide);
  const small::Work work{tiling,
                         SmallLists(const_cast<void*>(lists), tiling),
                         static_cast<const uint8_t*>(values),
                         groups,
                         groups * downs,
                         (tiling.slices + small::kStageSlices - 1) / small::kStageSlices};
  config.gridDim = {std::min(work.tasks, static_cast<unsigned>(clusters)) * kAcross, 1, 1};
  const CUtensorMap map = tensor_map(product.type, samples.x, {samples.samples, product.inputs()},
                                     {small::kRows / kAcross, kChunkBytes / bytes_of(product.type)});
  cudaLaunchKernelEx(&config, kernel, work, map, target_of(product, samples));
  check_launch("block_sparse::multiply");
}

template <class T>
void launch_cluster(const Product& product, const void* lists, const void* values, const Samples& samples,
                    void* stream) {
  // Alone where the second of two would have nothing to do.
  if (product.outputs() <= kSmallWide) return launch<T, 1>(product, lists, values, samples, stream);
  launch<T, 2>(product, lists, values, samples, stream);
}

}  // namespace

void multiply_small(const Product& product, const void* lists, const void* values, const Samples& samples,
                    void* stream) {
  switch (product.type) {
    case Operand::kBf16:
      return launch_cluster<__nv_bfloat16>(product, lists, values, samples, stream);
    case Operand::kHalf:
      return launch_cluster<__half>(product, lists, values, samples, stream);
    case Operand::kTf32:
      return launch_cluster<float>(product, lists, values, samples, stream);
  }
}

}  // namespace hewn::kernels::cuda::block_sparse
