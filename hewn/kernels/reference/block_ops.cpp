#include "hewn/kernels/reference/block_ops.h"

#include <vector>

#include "hewn/kernels/reference/elements.h"

namespace hewn::kernels::reference {
namespace {

/// Writes the sums of the blocks in the column blocks [begin, end).
template <class T>
void store(const Grid& grid, const std::vector<double>& sums, T* per_block, int64_t begin, int64_t end) {
  for (int64_t block = 0; block < grid.blocks(); ++block) {
    const int64_t col_block = block % grid.col_blocks();
    if (col_block < begin || col_block >= end) continue;
    per_block[block] = static_cast<T>(sums[static_cast<size_t>(block)]);
  }
}

}  // namespace

template <class T>
void block_scale(const WeightLayout& layout, const T* weight, const T* gate, const uint8_t* active, T* out,
                 int64_t begin, int64_t end) {
  each_element(layout, begin, end, [&](int64_t i, int64_t block) {
    const bool on = active == nullptr || active[block] != 0;
    out[i] = !on ? T(0) : (gate == nullptr ? T(1) : gate[block]) * weight[i];
  });
}

template <class T>
void block_scale_backward(const WeightLayout& layout, const T* grad_out, const T* weight, const T* gate,
                          const uint8_t* active, T* grad_weight, T* grad_gate, int64_t begin, int64_t end) {
  std::vector<double> sums(static_cast<size_t>(layout.grid.blocks()), 0.0);
  each_element(layout, begin, end, [&](int64_t i, int64_t block) {
    const bool on = active == nullptr || active[block] != 0;
    grad_weight[i] = !on ? T(0) : (gate == nullptr ? T(1) : gate[block]) * grad_out[i];
    if (on)
      sums[static_cast<size_t>(block)] += static_cast<double>(grad_out[i]) * static_cast<double>(weight[i]);
  });
  if (grad_gate != nullptr) store(layout.grid, sums, grad_gate, begin, end);
}

template <class T>
void block_squares(const WeightLayout& layout, const T* weight, T* squares, int64_t begin, int64_t end) {
  std::vector<double> sums(static_cast<size_t>(layout.grid.blocks()), 0.0);
  each_element(layout, begin, end, [&](int64_t i, int64_t block) {
    sums[static_cast<size_t>(block)] += static_cast<double>(weight[i]) * static_cast<double>(weight[i]);
  });
  store(layout.grid, sums, squares, begin, end);
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

}  // namespace hewn::kernels::reference
