#pragma once

#include <cstdint>

#include "hewn/core/grid.h"

namespace hewn::kernels::reference {

template <class T>
void block_scale(const WeightLayout& layout, const T* weight, const T* gate, const uint8_t* active, T* out,
                 int64_t begin, int64_t end);
template <class T>
void block_scale_backward(const WeightLayout& layout, const T* grad_out, const T* weight, const T* gate,
                          const uint8_t* active, T* grad_weight, T* grad_gate, int64_t begin, int64_t end);
template <class T>
void block_squares(const WeightLayout& layout, const T* weight, T* squares, int64_t begin, int64_t end);

}  // namespace hewn::kernels::reference
