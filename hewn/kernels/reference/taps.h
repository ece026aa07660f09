#pragma once

#include "hewn/kernels/taps.h"

namespace hewn::kernels::reference {

void sum_taps(const TapSum& sum, int64_t columns);
void every_second(const PixelLines& lines);
void pool_line(Fold fold, const PoolLine& pool, float* room);
float sum_lines(const float* in, int64_t line, int64_t lines, int64_t width);

}  // namespace hewn::kernels::reference
