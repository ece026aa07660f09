#pragma once

#include <cstdint>

namespace hewn::kernels {

/// For each of `columns` columns of `rows` numbers, `stride` floats from one row to the next: every number
/// becomes exp of what it is more than the largest of its column, and sums[column] their sum. Whole vectors
/// are read and written: up to 15 floats behind the last column, and in sums.
void exp_of_columns(float* numbers, int64_t rows, int64_t stride, int64_t columns, float* sums);

}  // namespace hewn::kernels
