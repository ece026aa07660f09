#pragma once

#include "hewn/convex/types.h"

namespace hewn::convex {

/// Columns of length n somewhere in memory: column j starts at base + index[j] * stride, or base + j * stride
/// without an index.
struct Columns {
  const double* base;
  Index stride;
  const int* index;
  Index count;

  const double* operator[](Index j) const { return base + (index == nullptr ? j : Index{index[j]}) * stride; }
};

/// out(j, k) += x_j' v_k over n rows; out is column-major with `out_stride`.
void add_dots(const Columns& x, const Columns& v, Index n, double* out, Index out_stride);
/// out_k += sum over j of coefficients(j, k) x_j, for k below `outputs`.
void add_combinations(const Columns& x, Index n, const double* coefficients, Index coefficient_stride,
                      double* out, Index out_stride, Index outputs);
/// out(j, k) += sum over rows i of roots_i^2 x_j[i] x_k[i], for j up to k.
void add_squares(const Columns& x, const double* roots, Index n, double* out, Index out_stride);

/// Which instructions the products use: "avx512", "avx2" or "baseline". Chosen once, at run time.
const char* product_instructions();

}  // namespace hewn::convex
