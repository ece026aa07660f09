#pragma once

#include "hewn/kernels/attention.h"

namespace hewn::kernels::reference {

// Plain twin of that in hewn/kernels/attention.h.
void attend(const Attention& attention, int64_t first, int64_t last);

}  // namespace hewn::kernels::reference
