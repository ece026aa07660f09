#pragma once

#include <cstdint>

#include "hewn/kernels/embedding.h"

namespace hewn::kernels::reference {

bool embed(const Tables& tables, const float* table, const int32_t* values, int64_t begin, int64_t end,
           float* out);
void number_rows(const Tables& tables, const int32_t* values, int64_t samples, int32_t* known,
                 int32_t* number, int64_t* rows, int64_t* counts, int64_t begin, int64_t end);
void sum_rows(const Tables& tables, const int32_t* number, int64_t samples, const float* grad,
              const int64_t* start, float* sums, int64_t begin, int64_t end);
void update_rows(const UpdateRule& rule, const int64_t* rows, int64_t width, const float* grad, float* weight,
                 float* first, float* second, const float* grad_scale, int64_t begin, int64_t end);

/// What numbering and summing add up to: the gradient of a whole table, every row, in double precision.
void table_gradient(const Tables& tables, const int32_t* values, int64_t samples, const float* grad,
                    double* out);

}  // namespace hewn::kernels::reference
