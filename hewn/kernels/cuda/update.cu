#include <algorithm>
#include <cmath>

#include "hewn/kernels/cuda/cuda.h"
#include "hewn/kernels/cuda/launch.cuh"

namespace hewn::kernels::cuda {
namespace {

constexpr int kThreads = 256;

struct Constants {
  bool sgd, nesterov;
  float lr, decay, l1, momentum, beta1, beta2, epsilon, step, root, shrink;
};

__global__ void update_kernel(Constants c, Layout layout, const uint8_t* active, const float* grad,
                              float* weight, float* first, float* second, const float* grad_scale,
                              int64_t elements) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= elements) return;
  if (active != nullptr && active[layout.block_of(i)] == 0) return;
  const float w = weight[i];
  const float scale = grad_scale == nullptr ? 1.0f : *grad_scale;
  const float sign = static_cast<float>(w > 0.0f) - static_cast<float>(w < 0.0f);
  const float g = scale * grad[i] + c.decay * w + c.l1 * sign;
  if (c.sgd) {
    const float m = c.momentum * first[i] + g;
    first[i] = m;
    weight[i] = w - c.lr * (c.nesterov ? g + c.momentum * m : m);
    return;
  }
  const float m = c.beta1 * first[i] + (1.0f - c.beta1) * g;
  const float v = c.beta2 * second[i] + (1.0f - c.beta2) * g * g;
  first[i] = m;
  second[i] = v;
  weight[i] = c.shrink * w - c.step * m / (c.root * sqrtf(v) + c.epsilon);
}

}  // namespace

void update(const UpdateRule& rule, const WeightLayout& layout, const uint8_t* active, const float* grad,
            float* weight, float* first, float* second, const float* grad_scale, int64_t elements,
            void* stream) {
  if (elements == 0) return;
  const bool decoupled = rule.kind == UpdateKind::kAdamW;
  const auto real = [](double value) { return static_cast<float>(value); };
  const Constants c = {rule.kind == UpdateKind::kSgd,
                       rule.nesterov,
                       real(rule.lr),
                       real(decoupled ? 0.0 : rule.weight_decay),
                       real(rule.l1_decay),
                       real(rule.momentum),
                       real(rule.beta1),
                       real(rule.beta2),
                       real(rule.epsilon),
                       real(rule.lr / rule.correction1),
                       real(1.0 / std::sqrt(rule.correction2)),
                       real(decoupled ? 1.0 - rule.lr * rule.weight_decay : 1.0)};
  const auto blocks = static_cast<unsigned>((elements + kThreads - 1) / kThreads);
  update_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      c, Layout(layout), active, grad, weight, first, second, grad_scale, elements);
  check_launch("update");
}

}  // namespace hewn::kernels::cuda
