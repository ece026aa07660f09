#pragma once

#include <cuda.h>

#include <functional>

#include "hewn/kernels/cuda/block_sparse/images/convolve.h"

namespace hewn::kernels::cuda::block_sparse {

/// Rows and columns of a row-major matrix.
struct Extents {
  int64_t rows, cols;
};

/// How the copy engine sees a matrix: in boxes whose rows are 128 or 64 bytes, swizzled over as many.
/// Beyond the edges it gives zeros. Rows must begin at multiples of 16 bytes.
CUtensorMap tensor_map(Operand type, const void* matrix, Extents extents, Extents box);

/// The same for channels-last images, of which a box is a column of output pixels and, of one tap of a
/// convolution's kernel, some channels. Beyond the edges and the last image it gives zeros.
CUtensorMap image_map(Operand type, const void* pixels, int64_t channels, const Images& images, Extents box);

/// Multiprocessors of the current device.
int multiprocessors();

/// What `ask` answers for a kernel on the current device, which is asked once.
int known_on_device(const void* kernel, const std::function<int()>& ask);

}  // namespace hewn::kernels::cuda::block_sparse
