#pragma once

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/update.h"

namespace hewn::kernels::cuda {

inline float real(double value) { return static_cast<float>(value); }

/// What UpdateRule says of all tensors.
struct Constants {
  bool sgd, adamw, nesterov;
  float momentum, beta1, beta2, epsilon;

  explicit Constants(const UpdateRule& rule)
      : sgd(rule.kind == UpdateKind::kSgd),
        adamw(rule.kind == UpdateKind::kAdamW),
        nesterov(rule.nesterov),
        momentum(real(rule.momentum)),
        beta1(real(rule.beta1)),
        beta2(real(rule.beta2)),
        epsilon(real(rule.epsilon)) {}
};

/// What is the tensor's own.
struct Rates {
  float factor, decay, l1;

  Rates() = default;
  explicit Rates(const UpdateRates& rates)
      : factor(real(rates.lr_factor)), decay(real(rates.weight_decay)), l1(real(rates.l1_decay)) {}
};

/// What this step does to one element of a tensor. `step` is what set_step left.
struct Rule {
  Constants c;
  float lr, stride, root, shrink, decay, l1;

  __device__ Rule(const Constants& constants, const Rates& rates, const float* step)
      : c(constants),
        lr(rates.factor * step[0]),
        stride(rates.factor * step[1]),
        root(step[2]),
        shrink(constants.adamw ? 1.0f - lr * rates.decay : 1.0f),
        decay(constants.adamw ? 0.0f : rates.decay),
        l1(rates.l1) {}

  __device__ void apply(float grad, float* weight, float* first, float* second) const {
    const float w = *weight;
    const float sign = static_cast<float>(w > 0.0f) - static_cast<float>(w < 0.0f);
    const float g = grad + decay * w + l1 * sign;
    if (c.sgd) {
      const float m = c.momentum * *first + g;
      *first = m;
      *weight = w - lr * (c.nesterov ? g + c.momentum * m : m);
      return;
    }
    const float m = c.beta1 * *first + (1.0f - c.beta1) * g;
    const float v = c.beta2 * *second + (1.0f - c.beta2) * g * g;
    *first = m;
    *second = v;
    *weight = shrink * w - stride * m / (root * sqrtf(v) + c.epsilon);
  }
};

}  // namespace hewn::kernels::cuda
