#include "hewn/kernels/cuda/block_sparse/multiply.h"

#include "hewn/core/error.h"
#include "hewn/kernels/cuda/block_sparse/tensor_map.h"

namespace hewn::kernels::cuda::block_sparse {
namespace {

bool begins_at_16(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % 16 == 0; }

}  // namespace

void check_begins_at_16(const Samples& samples) {
  if (!begins_at_16(samples.x) || !begins_at_16(samples.y) || !begins_at_16(samples.residual) ||
      !begins_at_16(samples.bias)) {
    throw Error("block-sparse product: expected samples and results that begin at multiples of 16 bytes");
  }
}

void multiply(const Product& product, const void* lists, const void* values, const Samples& samples,
              void* stream) {
  if (samples.samples == 0) return;
  if (architecture() < 80) throw Error("block-sparse product: expected a GPU from Ampere on");
  if (product.way == Way::kAnyGpu) return multiply_ampere(product, lists, values, samples, stream);
  check_begins_at_16(samples);
  if (product.way == Way::kSmallTiles) return multiply_small(product, lists, values, samples, stream);
  switch (product.type) {
    case Operand::kBf16:
      return multiply_hopper_bf16(product, lists, values, samples, stream);
    case Operand::kHalf:
      return multiply_hopper_half(product, lists, values, samples, stream);
    case Operand::kTf32:
      return multiply_hopper_tf32(product, lists, values, samples, stream);
  }
}

}  // namespace hewn::kernels::cuda::block_sparse
