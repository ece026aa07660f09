#include "hewn/kernels/block_ops.h"

#include <algorithm>

#include "hewn/kernels/spread.h"

namespace hewn::kernels {
namespace {

/// Calls body(offset of the column's run) for each column of a column block.
template <class Body>
void each_column(const Grid& grid, int64_t col_block, const Body& body) {
  const int64_t first = col_block * grid.block.cols;
  const int64_t last = std::min(first + grid.block.cols, grid.cols);
  for (int64_t column = first; column < last; ++column) body(column * grid.rows);
}

}  // namespace

template <class T>
void block_scale(const WeightLayout& layout, const T* weight, const T* gate, const uint8_t* active, T* out,
                 int64_t begin, int64_t end) {
  Spread<T> gates(layout);
  Spread<T> supports(layout);
  const int64_t rows = layout.grid.rows;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const T* g = gates.load(gate, col_block);
    if (active == nullptr) {
      each_column(layout.grid, col_block, [&](int64_t run) {
        const T* w = weight + run;
        T* y = out + run;
        for (int64_t m = 0; m < rows; ++m) y[m] = g[m] * w[m];
      });
      continue;
    }
    const T* on = supports.load(active, col_block);
    each_column(layout.grid, col_block, [&](int64_t run) {
      const T* w = weight + run;
      T* y = out + run;
      for (int64_t m = 0; m < rows; ++m) y[m] = on[m] != T(0) ? g[m] * w[m] : T(0);
    });
  }
}

template <class T>
void block_scale_backward(const WeightLayout& layout, const T* grad_out, const T* weight, const T* gate,
                          const uint8_t* active, T* grad_weight, T* grad_gate, int64_t begin, int64_t end) {
  Spread<T> gates(layout);
  Spread<T> supports(layout);
  Spread<T> products(layout);
  const int64_t rows = layout.grid.rows;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const T* g = gates.load(gate, col_block);
    T* sum = products.zero();
    if (active == nullptr) {
      each_column(layout.grid, col_block, [&](int64_t run) {
        const T* dy = grad_out + run;
        const T* w = weight + run;
        T* dw = grad_weight + run;
        for (int64_t m = 0; m < rows; ++m) {
          dw[m] = g[m] * dy[m];
          sum[m] += dy[m] * w[m];
        }
      });
    } else {
      const T* on = supports.load(active, col_block);
      each_column(layout.grid, col_block, [&](int64_t run) {
        const T* dy = grad_out + run;
        const T* w = weight + run;
        T* dw = grad_weight + run;
        for (int64_t m = 0; m < rows; ++m) {
          dw[m] = on[m] != T(0) ? g[m] * dy[m] : T(0);
          sum[m] += on[m] != T(0) ? dy[m] * w[m] : T(0);
        }
      });
    }
    if (grad_gate != nullptr) products.store_sums(grad_gate, col_block, layout.grid.row_blocks());
  }
}

template <class T>
void block_squares(const WeightLayout& layout, const T* weight, T* squares, int64_t begin, int64_t end) {
  Spread<T> products(layout);
  const int64_t rows = layout.grid.rows;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    T* sum = products.zero();
    each_column(layout.grid, col_block, [&](int64_t run) {
      const T* w = weight + run;
      for (int64_t m = 0; m < rows; ++m) sum[m] += w[m] * w[m];
    });
    products.store_sums(squares, col_block, layout.grid.row_blocks());
  }
}

#define HEWN_INSTANTIATE(T)                                                                                   \
  template void block_scale<T>(const WeightLayout&, const T*, const T*, const uint8_t*, T*, int64_t, int64_t); \
  template void block_scale_backward<T>(const WeightLayout&, const T*, const T*, const T*, const uint8_t*, T*, \
                                        T*, int64_t, int64_t);                                                 \
  template void block_squares<T>(const WeightLayout&, const T*, T*, int64_t, int64_t);
HEWN_INSTANTIATE(float)
HEWN_INSTANTIATE(double)
#undef HEWN_INSTANTIATE

}  // namespace hewn::kernels
