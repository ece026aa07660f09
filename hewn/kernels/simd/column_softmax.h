#pragma once

#include <cstdint>

namespace hewn::kernels {

/// For each of `columns` columns of `rows` numbers, `stride` floats from one row to the next: every number
/// becomes exp of what it is more than the largest of its column, and sums[column] their sum. Whole vectors
/// are read and written: up to 15 floats behind the last column, and in sums.
void exp_of_columns(float* numbers, int64_t rows, int64_t stride, int64_t columns, float* sums);

/// out[row * out_stride + c] = numbers[row * stride + c] / sums[c] for `columns` c.
struct ColumnQuotient {
  const float* numbers = nullptr;
  int64_t rows = 0;
  int64_t stride = 0;
  const float* sums = nullptr;
  int64_t columns = 0;
  float* out = nullptr;
  int64_t out_stride = 0;
};
void divide_columns(const ColumnQuotient& quotient);

}  // namespace hewn::kernels
