#pragma once

#include <cstdint>

#include "hewn/core/grid.h"
#include "hewn/kernels/bsr.h"

/// One optimiser step on one weight, fused into a single pass over memory.
namespace hewn::kernels {

enum class UpdateKind : uint8_t { kSgd, kAdam, kAdamW };

/// Everything an update needs besides the tensors. Plain data, so that it travels to a GPU by value.
struct UpdateRule {
  UpdateKind kind = UpdateKind::kSgd;
  double lr = 0.1;
  double weight_decay = 0;  // adds weight_decay * w to the gradient (AdamW: shrinks w instead)
  double l1_decay = 0;      // adds l1_decay * sign(w) to the gradient
  double momentum = 0;
  bool nesterov = false;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double correction1 = 1;  // 1 - beta1^t
  double correction2 = 1;  // 1 - beta2^t
};

/// Updates elements [begin, end). `first` is the momentum (SGD) or the first moment; `second` the second
/// moment, null for SGD. `grad_scale`, where not null, points to one factor for all gradients (clipping).
/// `keep`, where not null, holds 0 for elements that must not change by a bit, nor their state.
template <class T>
void update(const UpdateRule& rule, const T* grad, T* weight, T* first, T* second, const T* grad_scale,
            const T* keep, int64_t begin, int64_t end);

/// The same for the column blocks [begin, end) of a weight: blocks that are not `active` stay as they are.
template <class T>
void update_active(const UpdateRule& rule, const WeightLayout& layout, const uint8_t* active, const T* grad,
                   T* weight, T* first, T* second, const T* grad_scale, int64_t begin, int64_t end);

/// The same for the output blocks [begin, end) of a pattern, with a gradient that holds kept blocks only
/// ([kept][block.cols][block.rows]). Touches nothing else.
void update_blocks(const UpdateRule& rule, const BsrPattern& pattern, const WeightLayout& layout,
                   const float* grad, float* weight, float* first, float* second, const float* grad_scale,
                   int64_t begin, int64_t end);

}  // namespace hewn::kernels
