#pragma once

#include <cmath>

#include "hewn/kernels/update.h"

namespace hewn::kernels::cuda {

/// UpdateRule with its constants folded, and what it does to one element.
struct Constants {
  bool sgd, nesterov;
  float lr, decay, l1, momentum, beta1, beta2, epsilon, step, root, shrink;

  explicit Constants(const UpdateRule& rule)
      : sgd(rule.kind == UpdateKind::kSgd),
        nesterov(rule.nesterov),
        lr(real(rule.lr)),
        decay(real(rule.kind == UpdateKind::kAdamW ? 0.0 : rule.weight_decay)),
        l1(real(rule.l1_decay)),
        momentum(real(rule.momentum)),
        beta1(real(rule.beta1)),
        beta2(real(rule.beta2)),
        epsilon(real(rule.epsilon)),
        step(real(rule.lr / rule.correction1)),
        root(real(1.0 / std::sqrt(rule.correction2))),
        shrink(real(rule.kind == UpdateKind::kAdamW ? 1.0 - rule.lr * rule.weight_decay : 1.0)) {}

  static float real(double value) { return static_cast<float>(value); }

  __device__ void apply(float grad, float* weight, float* first, float* second) const {
    const float w = *weight;
    const float sign = static_cast<float>(w > 0.0f) - static_cast<float>(w < 0.0f);
    const float g = grad + decay * w + l1 * sign;
    if (sgd) {
      const float m = momentum * *first + g;
      *first = m;
      *weight = w - lr * (nesterov ? g + momentum * m : m);
      return;
    }
    const float m = beta1 * *first + (1.0f - beta1) * g;
    const float v = beta2 * *second + (1.0f - beta2) * g * g;
    *first = m;
    *second = v;
    *weight = shrink * w - step * m / (root * sqrtf(v) + epsilon);
  }
};

}  // namespace hewn::kernels::cuda
