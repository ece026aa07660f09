#pragma once

#include <cstdint>

namespace hewn::kernels {

/// c = a b for row-major matrices: `rows` x `inner` times `inner` x `columns`.
struct MatrixProduct {
  int64_t rows = 0;
  int64_t inner = 0;
  int64_t columns = 0;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
};

/// The rows [begin, end) of it.
void multiply_matrices(const MatrixProduct& product, int64_t begin, int64_t end);

}  // namespace hewn::kernels
