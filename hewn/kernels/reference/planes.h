#pragma once

#include "hewn/kernels/planes/planes.h"

namespace hewn::kernels::reference {

// Plain twin of that in hewn/kernels/planes/planes.h.
void multiply_planes(const PlaneProduct& product, int64_t first, int64_t last, int64_t begin, int64_t end);

}  // namespace hewn::kernels::reference
