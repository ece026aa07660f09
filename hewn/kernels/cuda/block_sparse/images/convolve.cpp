#include "hewn/kernels/cuda/block_sparse/images/convolve.h"

#include "hewn/core/error.h"
#include "hewn/kernels/cuda/block_sparse/multiply.h"

namespace hewn::kernels::cuda::block_sparse {

void convolve(const Product& product, const Images& images, const void* lists, const void* values,
              const Samples& samples, void* stream) {
  if (!takes_convolution(product, images.geometry)) {
    throw Error("block-sparse convolution: takes_convolution says that it cannot be done");
  }
  if (samples.samples != images.out_pixels()) {
    throw Error(
        str("block-sparse convolution: expected ", images.out_pixels(), " samples, got ", samples.samples));
  }
  if (images.geometry.is_pointwise()) return multiply(product, lists, values, samples, stream);
  if (samples.samples == 0) return;
  check_begins_at_16(samples);
  if (product.type == Operand::kBf16) {
    return convolve_hopper_bf16(product, images, lists, values, samples, stream);
  }
  convolve_hopper_half(product, images, lists, values, samples, stream);
}

}  // namespace hewn::kernels::cuda::block_sparse
