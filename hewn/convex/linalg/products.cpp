#include "hewn/convex/linalg/products.h"

#include <algorithm>
#include <vector>

// Eigen has no run-time dispatch, and its products of a few scattered columns are slow without it: a path
// over 500 x 10000 took 2.0 s, 80 % of it in one matrix-vector product (glmnet 0.35 s).
namespace hewn::convex {
namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace baseline {
#define HEWN_TARGET
#define HEWN_WIDTH 2
#include "hewn/convex/linalg/products-inl.h"
#undef HEWN_TARGET
#undef HEWN_WIDTH
}  // namespace baseline

#if defined(__x86_64__)
namespace avx2 {
#define HEWN_TARGET __attribute__((target("avx2,fma")))
#define HEWN_WIDTH 4
#include "hewn/convex/linalg/products-inl.h"
#undef HEWN_TARGET
#undef HEWN_WIDTH
}  // namespace avx2

namespace avx512 {
#define HEWN_TARGET __attribute__((target("avx512f,fma")))
#define HEWN_WIDTH 8
#include "hewn/convex/linalg/products-inl.h"
#undef HEWN_TARGET
#undef HEWN_WIDTH
}  // namespace avx512
#endif

#pragma GCC diagnostic pop

struct Products {
  const char* name;
  decltype(&baseline::add_dots) dots;
  decltype(&baseline::add_combinations) combinations;
  decltype(&baseline::add_squares) squares;
};

const Products& products() {
  static const Products chosen = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
      return Products{"avx512", avx512::add_dots, avx512::add_combinations, avx512::add_squares};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      return Products{"avx2", avx2::add_dots, avx2::add_combinations, avx2::add_squares};
    }
#endif
    return Products{"baseline", baseline::add_dots, baseline::add_combinations, baseline::add_squares};
  }();
  return chosen;
}

}  // namespace

void add_dots(const Columns& x, const Columns& v, Index n, double* out, Index out_stride) {
  products().dots(x, v, n, out, out_stride);
}

void add_combinations(const Columns& x, Index n, const double* coefficients, Index coefficient_stride,
                      double* out, Index out_stride, Index outputs) {
  products().combinations(x, n, coefficients, coefficient_stride, out, out_stride, outputs);
}

void add_squares(const Columns& x, const double* roots, Index n, double* out, Index out_stride) {
  products().squares(x, roots, n, out, out_stride);
}

const char* product_instructions() { return products().name; }

}  // namespace hewn::convex
