#pragma once

#include <cstdint>

#include "hewn/core/grid.h"

/// Block-wise passes over a weight: the gate's forward and backward, and the norms of blocks.
///
/// All pointers are to memory laid out as `layout` says; `gate`, `active`, `grad_gate` and `squares` hold one
/// value per block. `active` may be null: every block is active. `gate` may be null: every gate is 1. A block
/// that is not active is neither read nor multiplied: its output and its gradients are exactly zero. A call
/// works on the column blocks [begin, end), so that threads can share a weight; results do not depend on how
/// it is shared.
namespace hewn::kernels {

/// out = gate[block] * weight.
template <class T>
void block_scale(const WeightLayout& layout, const T* weight, const T* gate, const uint8_t* active, T* out,
                 int64_t begin, int64_t end);

/// One pass for both gradients: grad_weight = gate[block] * grad_out, and
/// grad_gate[block] = sum over the block of grad_out * weight.
template <class T>
void block_scale_backward(const WeightLayout& layout, const T* grad_out, const T* weight, const T* gate,
                          const uint8_t* active, T* grad_weight, T* grad_gate, int64_t begin, int64_t end);

/// squares[block] = sum of squared weights.
template <class T>
void block_squares(const WeightLayout& layout, const T* weight, T* squares, int64_t begin, int64_t end);

}  // namespace hewn::kernels
