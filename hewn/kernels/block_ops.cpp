#include "hewn/kernels/block_ops.h"

#include <algorithm>

#include "hewn/kernels/spread.h"

namespace hewn::kernels {
namespace {

/// Calls body(offset of the column's run) for each column of a column block.
template <class Body>
void each_column(const Grid& grid, int64_t col_block, const Body& body) {
  const int64_t last = grid.last_col(col_block);
  for (int64_t column = grid.first_col(col_block); column < last; ++column) body(column * grid.rows);
}

/// The columns [begin, end) of blocks, all active: one multiplication per element.
template <class T>
void scale_all(const WeightLayout& layout, const T* weight, const T* gate, T* out, int64_t begin,
               int64_t end) {
  Spread<T> gates(layout);
  const int64_t rows = layout.grid.rows;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const T* g = gates.load(gate, col_block);
    each_column(layout.grid, col_block, [&](int64_t run) {
      const T* w = weight + run;
      T* y = out + run;
      for (int64_t m = 0; m < rows; ++m) y[m] = g[m] * w[m];
    });
  }
}

/// Rows of a block side by side: only active blocks are read.
template <class T>
void scale_runs(const WeightLayout& layout, const T* weight, const T* gate, const uint8_t* active, T* out,
                int64_t begin, int64_t end) {
  const Grid& grid = layout.grid;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    each_column(grid, col_block, [&](int64_t run) {
      const T* w = weight + run;
      T* y = out + run;
      std::fill(y, y + grid.rows, T(0));
      each_active_run(layout, active, col_block, [&](int64_t first, int64_t last, int64_t row_block) {
        const T g = gate == nullptr ? T(1) : gate[row_block * grid.col_blocks() + col_block];
        for (int64_t m = first; m < last; ++m) y[m] = g * w[m];
      });
    });
  }
}

/// Rows of a block scattered (a convolution in O,I,H,W order): a select per element.
template <class T>
void scale_scattered(const WeightLayout& layout, const T* weight, const T* gate, const uint8_t* active,
                     T* out, int64_t begin, int64_t end) {
  Spread<T> gates(layout);
  Spread<T> supports(layout);
  const int64_t rows = layout.grid.rows;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const T* g = gates.load(gate, col_block);
    const T* on = supports.load(active, col_block);
    each_column(layout.grid, col_block, [&](int64_t run) {
      const T* w = weight + run;
      T* y = out + run;
      for (int64_t m = 0; m < rows; ++m) y[m] = on[m] != T(0) ? g[m] * w[m] : T(0);
    });
  }
}

/// Pointers of a backward pass.
template <class T>
struct Backward {
  const T* grad_out;
  const T* weight;
  const T* gate;
  T* grad_weight;
  T* grad_gate;
};

template <class T>
void backward_all(const WeightLayout& layout, const Backward<T>& p, int64_t begin, int64_t end) {
  Spread<T> gates(layout);
  Spread<T> products(layout);
  const int64_t rows = layout.grid.rows;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const T* g = gates.load(p.gate, col_block);
    T* sum = products.zero();
    each_column(layout.grid, col_block, [&](int64_t run) {
      const T* dy = p.grad_out + run;
      const T* w = p.weight + run;
      T* dw = p.grad_weight + run;
      for (int64_t m = 0; m < rows; ++m) {
        dw[m] = g[m] * dy[m];
        sum[m] += dy[m] * w[m];
      }
    });
    if (p.grad_gate != nullptr) products.store_sums(p.grad_gate, col_block, layout.grid.row_blocks());
  }
}

template <class T>
void backward_runs(const WeightLayout& layout, const Backward<T>& p, const uint8_t* active, int64_t begin,
                   int64_t end) {
  const Grid& grid = layout.grid;
  Spread<T> products(layout);
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    T* sum = products.zero();
    each_column(grid, col_block, [&](int64_t run) {
      const T* dy = p.grad_out + run;
      const T* w = p.weight + run;
      T* dw = p.grad_weight + run;
      std::fill(dw, dw + grid.rows, T(0));
      each_active_run(layout, active, col_block, [&](int64_t first, int64_t last, int64_t row_block) {
        const T g = p.gate == nullptr ? T(1) : p.gate[row_block * grid.col_blocks() + col_block];
        for (int64_t m = first; m < last; ++m) {
          dw[m] = g * dy[m];
          sum[m] += dy[m] * w[m];
        }
      });
    });
    if (p.grad_gate != nullptr) products.store_sums(p.grad_gate, col_block, grid.row_blocks());
  }
}

template <class T>
void backward_scattered(const WeightLayout& layout, const Backward<T>& p, const uint8_t* active,
                        int64_t begin, int64_t end) {
  Spread<T> gates(layout);
  Spread<T> supports(layout);
  Spread<T> products(layout);
  const int64_t rows = layout.grid.rows;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const T* g = gates.load(p.gate, col_block);
    const T* on = supports.load(active, col_block);
    T* sum = products.zero();
    each_column(layout.grid, col_block, [&](int64_t run) {
      const T* dy = p.grad_out + run;
      const T* w = p.weight + run;
      T* dw = p.grad_weight + run;
      for (int64_t m = 0; m < rows; ++m) {
        dw[m] = on[m] != T(0) ? g[m] * dy[m] : T(0);
        sum[m] += on[m] != T(0) ? dy[m] * w[m] : T(0);
      }
    });
    if (p.grad_gate != nullptr) products.store_sums(p.grad_gate, col_block, layout.grid.row_blocks());
  }
}

}  // namespace

template <class T>
void block_scale(const WeightLayout& layout, const T* weight, const T* gate, const uint8_t* active, T* out,
                 int64_t begin, int64_t end) {
  if (active == nullptr) return scale_all(layout, weight, gate, out, begin, end);
  if (layout.taps == 1) return scale_runs(layout, weight, gate, active, out, begin, end);
  return scale_scattered(layout, weight, gate, active, out, begin, end);
}

template <class T>
void block_scale_backward(const WeightLayout& layout, const T* grad_out, const T* weight, const T* gate,
                          const uint8_t* active, T* grad_weight, T* grad_gate, int64_t begin, int64_t end) {
  const Backward<T> p = {grad_out, weight, gate, grad_weight, grad_gate};
  if (active == nullptr) return backward_all(layout, p, begin, end);
  if (layout.taps == 1) return backward_runs(layout, p, active, begin, end);
  return backward_scattered(layout, p, active, begin, end);
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

#define HEWN_INSTANTIATE(T)                                                                                \
  template void block_scale<T>(const WeightLayout&, const T*, const T*, const uint8_t*, T*, int64_t,       \
                               int64_t);                                                                   \
  template void block_scale_backward<T>(const WeightLayout&, const T*, const T*, const T*, const uint8_t*, \
                                        T*, T*, int64_t, int64_t);                                         \
  template void block_squares<T>(const WeightLayout&, const T*, T*, int64_t, int64_t);
HEWN_INSTANTIATE(float)
HEWN_INSTANTIATE(double)
#undef HEWN_INSTANTIATE

}  // namespace hewn::kernels
