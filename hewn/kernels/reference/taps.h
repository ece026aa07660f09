#pragma once

#include "hewn/kernels/taps.h"

namespace hewn::kernels::reference {

void sum_taps(const TapSum& sum, int64_t columns);
void part_pixels(const float* in, float* even, float* odd, int64_t count);

}  // namespace hewn::kernels::reference
