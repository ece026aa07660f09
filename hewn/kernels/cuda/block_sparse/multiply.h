#pragma once

#include "hewn/kernels/cuda/block_sparse/images/convolve.h"

namespace hewn::kernels::cuda::block_sparse {

/// Hopper's copy engine and the widest stores want this.
void check_begins_at_16(const Samples& samples);

// The ways of a product. The first two are for Hopper alone, want rows of samples and of outputs that are
// multiples of 16 bytes and begin at such; hopper_TYPE.cu has the first for each type. The second is for
// small tiles and has lists and packed values of its own.
void multiply_hopper_bf16(const Product& product, const void* lists, const void* values,
                          const Samples& samples, void* stream);
void multiply_hopper_half(const Product& product, const void* lists, const void* values,
                          const Samples& samples, void* stream);
void multiply_hopper_tf32(const Product& product, const void* lists, const void* values,
                          const Samples& samples, void* stream);
void convolve_hopper_bf16(const Product& product, const Images& images, const void* lists, const void* values,
                          const Samples& samples, void* stream);
void convolve_hopper_half(const Product& product, const Images& images, const void* lists, const void* values,
                          const Samples& samples, void* stream);
void find_small_tiles(const Product& product, const uint8_t* support, void* lists, void* stream);
void pack_small_tiles(const Product& product, const DenseWeight& weight, const void* lists, void* values,
                      void* stream);
void multiply_small(const Product& product, const void* lists, const void* values, const Samples& samples,
                    void* stream);
void multiply_ampere(const Product& product, const void* lists, const void* values, const Samples& samples,
                     void* stream);

}  // namespace hewn::kernels::cuda::block_sparse
