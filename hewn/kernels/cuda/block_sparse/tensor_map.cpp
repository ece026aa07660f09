#include "hewn/kernels/cuda/block_sparse/tensor_map.h"

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <utility>

#include "hewn/core/error.h"

namespace hewn::kernels::cuda::block_sparse {

namespace {

constexpr CUtensorMapDataType kTypes[] = {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                          CU_TENSOR_MAP_DATA_TYPE_FLOAT32};

/// Asked for at run time, so that nothing has to be linked with the driver.
template <class Function>
Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
  if (found == nullptr) {
    throw Error("block-sparse product: the CUDA driver has no tensor maps; update it");
  }
  return reinterpret_cast<Function>(found);
}

CUtensorMapSwizzle swizzle_of(Operand type, const Extents& box) {
  return box.cols * bytes_of(type) == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B;
}

/// No more than a chunk: a neighbour may not be needed.
CUtensorMapL2promotion promotion_of(Operand type, const Extents& box) {
  return box.cols * bytes_of(type) == 64 ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B
                                         : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
}

}  // namespace

CUtensorMap tensor_map(Operand type, const void* matrix, Extents extents, Extents box) {
  static const auto encode = driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(extents.cols), static_cast<cuuint64_t>(extents.rows)};
  const cuuint64_t strides[1] = {static_cast<cuuint64_t>(extents.cols * bytes_of(type))};
  const cuuint32_t boxes[2] = {static_cast<cuuint32_t>(box.cols), static_cast<cuuint32_t>(box.rows)};
  const cuuint32_t steps[2] = {1, 1};
  CUtensorMap map;
  const CUresult result = encode(&map, kTypes[static_cast<int>(type)], 2, const_cast<void*>(matrix), sizes,
                                 strides, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(type, box),
                                 promotion_of(type, box), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw Error(
        str("block-sparse product: no tensor map for a matrix of ", extents.rows, " x ", extents.cols));
  }
  return map;
}

CUtensorMap image_map(Operand type, const void* pixels, int64_t channels, const Images& images, Extents box) {
  static const auto encode = driver_function<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  const ConvGeometry& g = images.geometry;
  const cuuint64_t sizes[4] = {static_cast<cuuint64_t>(channels), static_cast<cuuint64_t>(images.width),
                               static_cast<cuuint64_t>(images.height), static_cast<cuuint64_t>(images.count)};
  cuuint64_t strides[3];
  for (int i = 0; i < 3; ++i) {
    strides[i] = sizes[i] * (i == 0 ? static_cast<cuuint64_t>(bytes_of(type)) : strides[i - 1]);
  }
  // Pixels under the first tap: from the lower corner to so far beyond the last pixel. The engine goes
  // through them as a convolution goes through its outputs. Width comes first.
  const auto end = [&](int64_t kernel) { return static_cast<int>(g.padding - g.dilation * (kernel - 1)); };
  const int lower[2] = {static_cast<int>(-g.padding), static_cast<int>(-g.padding)};
  const int upper[2] = {end(g.kernel_width), end(g.kernel_height)};
  const auto stride = static_cast<cuuint32_t>(g.stride);
  const cuuint32_t steps[4] = {1, stride, stride, 1};
  CUtensorMap map;
  const CUresult result =
      encode(&map, kTypes[static_cast<int>(type)], 4, const_cast<void*>(pixels), sizes, strides, lower, upper,
             static_cast<cuuint32_t>(box.cols), static_cast<cuuint32_t>(box.rows), steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(type, box), promotion_of(type, box),
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw Error(str("block-sparse convolution: no tensor map for ", images.count, " images of ",
                    images.height, " x ", images.width, " x ", channels));
  }
  return map;
}

namespace {

int current_device() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  cudaDeviceGetAttribute(&value, which, current_device());
  return value;
}

}  // namespace

int multiprocessors() { return attribute(cudaDevAttrMultiProcessorCount); }

int known_on_device(const void* kernel, const std::function<int()>& ask) {
  static std::mutex mutex;
  static std::map<std::pair<const void*, int>, int> answers;
  const std::lock_guard lock(mutex);
  const auto [at, added] = answers.try_emplace({kernel, current_device()}, 0);
  if (added) at->second = ask();
  return at->second;
}

int architecture() {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
}

}  // namespace hewn::kernels::cuda::block_sparse
