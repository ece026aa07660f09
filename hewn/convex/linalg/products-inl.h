// The body of the products, compiled once per instruction set: HEWN_TARGET says which, HEWN_WIDTH how many
// doubles a register holds. Included by products.cpp only.

using Vec = double __attribute__((vector_size(HEWN_WIDTH * 8), aligned(8), may_alias));

HEWN_TARGET inline double sum_of(const Vec& v) {
  double sum = 0;
  for (int i = 0; i < HEWN_WIDTH; ++i) sum += v[i];
  return sum;
}

// J columns against C others at once: each value loaded is used J or C times.
template <std::size_t J, std::size_t C>
HEWN_TARGET inline void dot_tile(const double* const* x, const double* const* v, Index n, double* out,
                                 Index out_stride) {
  Vec sums[J][C] = {};
  Index i = 0;
  for (; i + HEWN_WIDTH <= n; i += HEWN_WIDTH) {
    Vec a[J];
    for (std::size_t j = 0; j < J; ++j) a[j] = *reinterpret_cast<const Vec*>(x[j] + i);
    for (std::size_t c = 0; c < C; ++c) {
      const Vec b = *reinterpret_cast<const Vec*>(v[c] + i);
      for (std::size_t j = 0; j < J; ++j) sums[j][c] += a[j] * b;
    }
  }
  double rest[J][C] = {};
  for (; i < n; ++i) {
    for (std::size_t c = 0; c < C; ++c) {
      for (std::size_t j = 0; j < J; ++j) rest[j][c] += x[j][i] * v[c][i];
    }
  }
  for (std::size_t c = 0; c < C; ++c) {
    for (std::size_t j = 0; j < J; ++j)
      out[to_index(j) + to_index(c) * out_stride] += sum_of(sums[j][c]) + rest[j][c];
  }
}

template <std::size_t C>
HEWN_TARGET inline void dot_strip(const Columns& x, const double* const* v, Index first, Index n, double* out,
                                  Index out_stride) {
  constexpr std::size_t kJ = C == 1 ? 4 : 3;
  Index j = 0;
  for (; j + to_index(kJ) <= x.count; j += to_index(kJ)) {
    const double* columns[kJ];
    for (std::size_t t = 0; t < kJ; ++t) columns[t] = x[j + to_index(t)] + first;
    dot_tile<kJ, C>(columns, v, n, out + j, out_stride);
  }
  for (; j < x.count; ++j) {
    const double* column = x[j] + first;
    dot_tile<1, C>(&column, v, n, out + j, out_stride);
  }
}

HEWN_TARGET void add_dots(const Columns& x, const Columns& v, Index n, double* out, Index out_stride) {
  // Four columns of v in rows that stay in the first-level cache while all of x passes.
  constexpr Index kRows = 1024;
  const Index rows = v.count == 1 ? n : kRows;
  for (Index first = 0; first < n; first += rows) {
    const Index count = std::min(rows, n - first);
    Index k = 0;
    for (; k + 4 <= v.count; k += 4) {
      const double* columns[4] = {v[k] + first, v[k + 1] + first, v[k + 2] + first, v[k + 3] + first};
      dot_strip<4>(x, columns, first, count, out + k * out_stride, out_stride);
    }
    if (k + 2 <= v.count) {
      const double* columns[2] = {v[k] + first, v[k + 1] + first};
      dot_strip<2>(x, columns, first, count, out + k * out_stride, out_stride);
      k += 2;
    }
    if (k < v.count) {
      const double* column = v[k] + first;
      dot_strip<1>(x, &column, first, count, out + k * out_stride, out_stride);
    }
  }
}

template <std::size_t J, std::size_t C>
HEWN_TARGET inline void combine_tile(const double* const* x, Index n, const double* coefficients,
                                     Index coefficient_stride, double* const* out) {
  double scale[J][C];
  for (std::size_t c = 0; c < C; ++c) {
    for (std::size_t j = 0; j < J; ++j)
      scale[j][c] = coefficients[to_index(j) + to_index(c) * coefficient_stride];
  }
  Index i = 0;
  for (; i + HEWN_WIDTH <= n; i += HEWN_WIDTH) {
    Vec sums[C];
    for (std::size_t c = 0; c < C; ++c) sums[c] = *reinterpret_cast<const Vec*>(out[c] + i);
    for (std::size_t j = 0; j < J; ++j) {
      const Vec a = *reinterpret_cast<const Vec*>(x[j] + i);
      for (std::size_t c = 0; c < C; ++c) sums[c] += a * scale[j][c];
    }
    for (std::size_t c = 0; c < C; ++c) *reinterpret_cast<Vec*>(out[c] + i) = sums[c];
  }
  for (; i < n; ++i) {
    for (std::size_t c = 0; c < C; ++c) {
      for (std::size_t j = 0; j < J; ++j) out[c][i] += x[j][i] * scale[j][c];
    }
  }
}

template <std::size_t C>
HEWN_TARGET inline void combine_strip(const Columns& x, Index first, Index n, const double* coefficients,
                                      Index coefficient_stride, double* const* out) {
  Index j = 0;
  for (; j + 4 <= x.count; j += 4) {
    const double* columns[4] = {x[j] + first, x[j + 1] + first, x[j + 2] + first, x[j + 3] + first};
    combine_tile<4, C>(columns, n, coefficients + j, coefficient_stride, out);
  }
  for (; j < x.count; ++j) {
    const double* column = x[j] + first;
    combine_tile<1, C>(&column, n, coefficients + j, coefficient_stride, out);
  }
}

HEWN_TARGET void add_combinations(const Columns& x, Index n, const double* coefficients,
                                  Index coefficient_stride, double* out, Index out_stride, Index outputs) {
  constexpr Index kRows = 1024;
  for (Index first = 0; first < n; first += kRows) {
    const Index count = std::min(kRows, n - first);
    Index k = 0;
    for (; k + 2 <= outputs; k += 2) {
      double* columns[2] = {out + k * out_stride + first, out + (k + 1) * out_stride + first};
      combine_strip<2>(x, first, count, coefficients + k * coefficient_stride, coefficient_stride, columns);
    }
    if (k < outputs) {
      double* column = out + k * out_stride + first;
      combine_strip<1>(x, first, count, coefficients + k * coefficient_stride, coefficient_stride, &column);
    }
  }
}

// Rows of a panel in slivers of HEWN_WIDTH columns each, row after row: what a tile reads lies in a row.
HEWN_TARGET inline void pack_slivers(const Columns& x, const double* roots, Index first, Index n,
                                     double* packed) {
  for (Index j = 0; j < x.count; ++j) {
    const double* column = x[j] + first;
    double* to = packed + j / HEWN_WIDTH * HEWN_WIDTH * n + j % HEWN_WIDTH;
    for (Index i = 0; i < n; ++i) to[i * HEWN_WIDTH] = column[i] * roots[first + i];
  }
}

// A slivers against one, over n rows; columns of the tile that `out` does not have are left away.
template <std::size_t A>
HEWN_TARGET inline void square_tile(const double* const* a, const double* b, Index n, double* const* out,
                                    Index cols) {
  Vec sums[A][HEWN_WIDTH] = {};
  for (Index i = 0; i < n; ++i) {
    Vec left[A];
    for (std::size_t s = 0; s < A; ++s) left[s] = *reinterpret_cast<const Vec*>(a[s] + i * HEWN_WIDTH);
    for (std::size_t c = 0; c < HEWN_WIDTH; ++c) {
      for (std::size_t s = 0; s < A; ++s) sums[s][c] += left[s] * b[i * HEWN_WIDTH + to_index(c)];
    }
  }
  for (Index c = 0; c < cols; ++c) {
    for (std::size_t s = 0; s < A; ++s)
      *reinterpret_cast<Vec*>(out[c] + to_index(s) * HEWN_WIDTH) += sums[s][to_size(c)];
  }
}

HEWN_TARGET void add_squares(const Columns& x, const double* roots, Index n, double* out, Index out_stride) {
  constexpr Index kRows = 128;
  constexpr Index kW = HEWN_WIDTH;
  const Index slivers = (x.count + kW - 1) / kW;
  std::vector<double> packed(to_size(slivers * kW * kRows), 0.0);
  std::vector<double> padded(to_size(slivers * kW * x.count), 0.0);  // whole slivers of rows
  for (Index first = 0; first < n; first += kRows) {
    const Index rows = std::min(kRows, n - first);
    if (rows < kRows) std::fill(packed.begin(), packed.end(), 0.0);
    pack_slivers(x, roots, first, rows, packed.data());
    // Three slivers stay in the first-level cache while all that follow pass by once.
    for (Index j = 0; j < slivers; j += 3) {
      const Index count = std::min<Index>(3, slivers - j);
      const double* a[3];
      for (Index s = 0; s < count; ++s) a[s] = packed.data() + (j + s) * kW * rows;
      for (Index k = j; k < slivers; ++k) {
        double* columns[kW];
        const Index cols = std::min(kW, x.count - k * kW);
        for (Index c = 0; c < cols; ++c) columns[c] = padded.data() + (k * kW + c) * slivers * kW + j * kW;
        const double* b = packed.data() + k * kW * rows;
        if (count == 3) square_tile<3>(a, b, rows, columns, cols);
        if (count == 2) square_tile<2>(a, b, rows, columns, cols);
        if (count == 1) square_tile<1>(a, b, rows, columns, cols);
      }
    }
  }
  for (Index k = 0; k < x.count; ++k) {
    for (Index j = 0; j <= k; ++j) out[j + k * out_stride] += padded[to_size(k * slivers * kW + j)];
  }
}
