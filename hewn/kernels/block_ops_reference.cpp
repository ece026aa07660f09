#include <vector>

#include "hewn/kernels/block_ops.h"

namespace hewn::kernels::reference {
namespace {

/// Calls body(place in memory, block) for every element of the weight.
template <class Body>
void each_element(const WeightLayout& layout, const Body& body) {
  const Grid& grid = layout.grid;
  for (int64_t column = 0; column < grid.cols; ++column) {
    for (int64_t offset = 0; offset < grid.rows; ++offset) {
      body(column * grid.rows + offset, grid.block_of(layout.row_of(offset), column));
    }
  }
}

}  // namespace

template <class T>
void block_scale(const WeightLayout& layout, const T* weight, const T* gate, const uint8_t* active, T* out) {
  each_element(layout, [&](int64_t i, int64_t block) {
    const bool on = active == nullptr || active[block] != 0;
    out[i] = !on ? T(0) : (gate == nullptr ? T(1) : gate[block]) * weight[i];
  });
}

template <class T>
void block_scale_backward(const WeightLayout& layout, const T* grad_out, const T* weight, const T* gate,
                          const uint8_t* active, T* grad_weight, T* grad_gate) {
  std::vector<double> sums(static_cast<size_t>(layout.grid.blocks()), 0.0);
  each_element(layout, [&](int64_t i, int64_t block) {
    const bool on = active == nullptr || active[block] != 0;
    grad_weight[i] = !on ? T(0) : (gate == nullptr ? T(1) : gate[block]) * grad_out[i];
    if (on)
      sums[static_cast<size_t>(block)] += static_cast<double>(grad_out[i]) * static_cast<double>(weight[i]);
  });
  for (size_t block = 0; grad_gate != nullptr && block < sums.size(); ++block) {
    grad_gate[block] = static_cast<T>(sums[block]);
  }
}

template <class T>
void block_squares(const WeightLayout& layout, const T* weight, T* squares) {
  std::vector<double> sums(static_cast<size_t>(layout.grid.blocks()), 0.0);
  each_element(layout, [&](int64_t i, int64_t block) {
    sums[static_cast<size_t>(block)] += static_cast<double>(weight[i]) * static_cast<double>(weight[i]);
  });
  for (size_t block = 0; block < sums.size(); ++block) squares[block] = static_cast<T>(sums[block]);
}

#define HEWN_INSTANTIATE(T)                                                                                \
  template void block_scale<T>(const WeightLayout&, const T*, const T*, const uint8_t*, T*);               \
  template void block_scale_backward<T>(const WeightLayout&, const T*, const T*, const T*, const uint8_t*, \
                                        T*, T*);                                                           \
  template void block_squares<T>(const WeightLayout&, const T*, T*);
HEWN_INSTANTIATE(float)
HEWN_INSTANTIATE(double)
#undef HEWN_INSTANTIATE

}  // namespace hewn::kernels::reference
