#pragma once

#include <cuda.h>

#include "hewn/kernels/cuda/block_sparse/block_sparse.h"

namespace hewn::kernels::cuda::block_sparse {

/// Rows and columns of a row-major matrix.
struct Extents {
  int64_t rows, cols;
};

/// How the copy engine sees a matrix: in boxes whose rows are 128 or 64 bytes, swizzled over as many.
/// Beyond the edges it gives zeros. Rows must begin at multiples of 16 bytes.
CUtensorMap tensor_map(Operand type, const void* matrix, Extents extents, Extents box);

/// Multiprocessors of the current device.
int multiprocessors();

}  // namespace hewn::kernels::cuda::block_sparse
