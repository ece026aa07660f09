#include "hewn/kernels/cuda/block_sparse/tensor_map.h"

#include <cuda_runtime_api.h>

#include "hewn/core/error.h"

namespace hewn::kernels::cuda::block_sparse {

CUtensorMap tensor_map(Operand type, const void* matrix, Extents extents, Extents box) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  // Asked for at run time, so that nothing has to be linked with the driver.
  static const Encode encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
    return reinterpret_cast<Encode>(found);
  }();
  if (encode == nullptr) throw Error("block-sparse product: the CUDA driver has no tensor maps; update it");
  constexpr CUtensorMapDataType kTypes[] = {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                            CU_TENSOR_MAP_DATA_TYPE_FLOAT32};
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(extents.cols), static_cast<cuuint64_t>(extents.rows)};
  const cuuint64_t strides[1] = {static_cast<cuuint64_t>(extents.cols * bytes_of(type))};
  const cuuint32_t boxes[2] = {static_cast<cuuint32_t>(box.cols), static_cast<cuuint32_t>(box.rows)};
  const cuuint32_t steps[2] = {1, 1};
  const auto swizzle =
      box.cols * bytes_of(type) == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B;
  CUtensorMap map;
  const CUresult result = encode(&map, kTypes[static_cast<int>(type)], 2, const_cast<void*>(matrix), sizes,
                                 strides, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw Error(
        str("block-sparse product: no tensor map for a matrix of ", extents.rows, " x ", extents.cols));
  }
  return map;
}

namespace {

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&value, which, device);
  return value;
}

}  // namespace

int multiprocessors() { return attribute(cudaDevAttrMultiProcessorCount); }

int architecture() {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
}

}  // namespace hewn::kernels::cuda::block_sparse
