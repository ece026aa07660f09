#include "hewn/kernels/reference/matrices.h"

namespace hewn::kernels::reference {

void multiply_matrices(const MatrixProduct& product, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t j = 0; j < product.columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < product.inner; ++k) {
        sum += static_cast<double>(product.a[i * product.inner + k]) * product.b[k * product.columns + j];
      }
      product.c[i * product.columns + j] = static_cast<float>(sum);
    }
  }
}

}  // namespace hewn::kernels::reference
