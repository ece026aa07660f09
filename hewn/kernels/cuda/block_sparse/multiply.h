#pragma once

#include "hewn/kernels/cuda/block_sparse/block_sparse.h"

namespace hewn::kernels::cuda::block_sparse {

// The two ways of a product. The first is for Hopper alone, wants rows of samples and of outputs that are
// multiples of 16 bytes and begin at such; hopper_TYPE.cu has it for each type.
void multiply_hopper_bf16(const Product& product, const void* lists, const void* values,
                          const Samples& samples, void* stream);
void multiply_hopper_half(const Product& product, const void* lists, const void* values,
                          const Samples& samples, void* stream);
void multiply_hopper_tf32(const Product& product, const void* lists, const void* values,
                          const Samples& samples, void* stream);
void multiply_ampere(const Product& product, const void* lists, const void* values, const Samples& samples,
                     void* stream);

}  // namespace hewn::kernels::cuda::block_sparse
