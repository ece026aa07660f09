#pragma once

#include "hewn/kernels/planes/matrices.h"

namespace hewn::kernels::reference {

// Plain twin of that in hewn/kernels/planes/matrices.h.
void multiply_matrices(const MatrixProduct& product, int64_t begin, int64_t end);

}  // namespace hewn::kernels::reference
