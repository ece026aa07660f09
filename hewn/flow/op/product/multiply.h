#pragma once

#include <cstdint>

namespace hewn::flow {

/// out[m][n] += alpha * sum over k of a[m][k] * b[k][n]. All row-major; `a_row` and `a_column` are the steps
/// in `a`, so that it may be transposed.
template <class T>
struct Product {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  const T* a = nullptr;
  int64_t a_row = 0;
  int64_t a_column = 0;
  const T* b = nullptr;
  T alpha = 1;
};

template <class T>
void multiply(const Product<T>& product, T* out) {
  for (int64_t i = 0; i < product.m; ++i) {
    T* to = out + i * product.n;
    for (int64_t k = 0; k < product.k; ++k) {
      const T a = product.alpha * product.a[i * product.a_row + k * product.a_column];
      const T* b = product.b + k * product.n;
      for (int64_t j = 0; j < product.n; ++j) to[j] += a * b[j];
    }
  }
}

}  // namespace hewn::flow
