#include "hewn/nn/kept/made.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>
#include <torch/version.h>

#include "hewn/tensor/memory.h"
#include "hewn/tensor/stream.h"

namespace hewn::nn {

namespace block_sparse = kernels::cuda::block_sparse;

block_sparse::Operand operand_of(at::ScalarType type) {
  if (type == at::kBFloat16) return block_sparse::Operand::kBf16;
  return type == at::kHalf ? block_sparse::Operand::kHalf : block_sparse::Operand::kTf32;
}

at::ScalarType compute_type(const at::Tensor& weight) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  const bool autocast = at::autocast::is_autocast_enabled(at::kCUDA);
  return autocast ? at::autocast::get_autocast_dtype(at::kCUDA) : weight.scalar_type();
#else
  return at::autocast::is_enabled() ? at::autocast::get_autocast_gpu_dtype() : weight.scalar_type();
#endif
}

at::Tensor device_bytes(int64_t size, const at::Tensor& like) {
  return at::empty({size}, like.options().dtype(at::kByte));
}

at::Tensor at_16(const at::Tensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 16 == 0 ? tensor : tensor.clone();
}

at::Tensor single_bias(const at::Tensor& bias) {
  return bias.defined() ? at_16(bias.to(at::kFloat).contiguous()) : bias;
}

block_sparse::Samples call_of(const at::Tensor& x, int64_t samples, const at::Tensor& y,
                              const Finish& finish) {
  block_sparse::Samples call{x.data_ptr(), samples, y.data_ptr()};
  call.bias = tensor::data_or_null<float>(finish.bias);
  call.residual = finish.residual.defined() ? finish.residual.data_ptr() : nullptr;
  call.relu = finish.relu;
  return call;
}

Made::Made(const block_sparse::Product& product, const at::Tensor& weight, const at::Tensor& support)
    : lists(device_bytes(product.list_bytes(), weight)), values(device_bytes(product.value_bytes(), weight)) {
  const tensor::CurrentStream stream(weight);
  const auto* kept = support.data_ptr<uint8_t>();
  block_sparse::find_tiles(product, kept, lists.data_ptr(), stream);
  block_sparse::pack(product, {weight.data_ptr(), block_sparse::Source::kOperand, nullptr, kept},
                     lists.data_ptr(), values.data_ptr(), stream);
}

}  // namespace hewn::nn
