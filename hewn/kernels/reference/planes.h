#pragma once

#include "hewn/kernels/planes.h"

namespace hewn::kernels::reference {

// Plain twins of those in hewn/kernels/planes.h.
void multiply_planes(const PlaneProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end);
void multiply_matrices(const MatrixProduct& product, int64_t begin, int64_t end);

}  // namespace hewn::kernels::reference
