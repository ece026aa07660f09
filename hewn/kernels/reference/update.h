#pragma once

#include <cstdint>

#include "hewn/kernels/update.h"

/// Updates as the textbook writes them, in double precision.
namespace hewn::kernels::reference {

template <class T>
void update(const UpdateRule& rule, const T* grad, T* weight, T* first, T* second, const T* grad_scale,
            const T* keep, int64_t begin, int64_t end);
template <class T>
void update_active(const UpdateRule& rule, const WeightLayout& layout, const uint8_t* active, const T* grad,
                   T* weight, T* first, T* second, const T* grad_scale, int64_t begin, int64_t end);
void update_blocks(const UpdateRule& rule, const BsrPattern& pattern, const WeightLayout& layout,
                   const float* grad, float* weight, float* first, float* second, const float* grad_scale,
                   int64_t begin, int64_t end);

}  // namespace hewn::kernels::reference
