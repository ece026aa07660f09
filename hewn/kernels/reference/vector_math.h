#pragma once

#include "hewn/kernels/vector_math.h"

namespace hewn::kernels::reference {

// Plain twins of those in hewn/kernels/vector_math.h.
void apply(Function function, float a, float b, const float* in, float* out, int64_t count);
void combine(Pair pair, const float* x, int64_t x_step, const float* y, int64_t y_step, float* out,
             int64_t count);
void softmax(const float* in, float* out, int64_t count);
float sum(const float* in, int64_t count);
void normalise_columns(const ColumnNorm& norm, const float* in, float* out, int64_t columns);

}  // namespace hewn::kernels::reference
