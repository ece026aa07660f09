#include "hewn/kernels/reference/update.h"

#include <cmath>

#include "hewn/kernels/reference/elements.h"

namespace hewn::kernels::reference {
namespace {

/// One element's step, with the gradient `grad`.
template <class T>
void update_one(const UpdateRule& rule, double grad, T* weight, T* first, T* second) {
  const double w = *weight;
  double g = grad + rule.l1_decay * ((w > 0) - (w < 0));
  if (rule.kind != UpdateKind::kAdamW) g += rule.weight_decay * w;
  if (rule.kind == UpdateKind::kSgd) {
    const double m = rule.momentum * *first + g;
    *first = static_cast<T>(m);
    *weight = static_cast<T>(w - rule.lr * (rule.nesterov ? g + rule.momentum * m : m));
    return;
  }
  const double m = rule.beta1 * *first + (1 - rule.beta1) * g;
  const double v = rule.beta2 * *second + (1 - rule.beta2) * g * g;
  *first = static_cast<T>(m);
  *second = static_cast<T>(v);
  const double shrunk = rule.kind == UpdateKind::kAdamW ? w * (1 - rule.lr * rule.weight_decay) : w;
  *weight = static_cast<T>(shrunk - rule.lr * (m / rule.correction1) /
                                        (std::sqrt(v / rule.correction2) + rule.epsilon));
}

template <class T>
double scaled(const T* grad_scale, T grad) {
  return (grad_scale == nullptr ? 1.0 : static_cast<double>(*grad_scale)) * static_cast<double>(grad);
}

/// SGD has no second moments.
template <class T>
T* moment(T* second, int64_t i) {
  return second == nullptr ? nullptr : second + i;
}

}  // namespace

template <class T>
void update(const UpdateRule& rule, const T* grad, T* weight, T* first, T* second, const T* grad_scale,
            const T* keep, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    if (keep != nullptr && keep[i] == T(0)) continue;
    update_one(rule, scaled(grad_scale, grad[i]), weight + i, first + i, moment(second, i));
  }
}

template <class T>
void update_active(const UpdateRule& rule, const WeightLayout& layout, const uint8_t* active, const T* grad,
                   T* weight, T* first, T* second, const T* grad_scale, int64_t begin, int64_t end) {
  each_element(layout, begin, end, [&](int64_t i, int64_t block) {
    if (active != nullptr && active[block] == 0) return;
    update_one(rule, scaled(grad_scale, grad[i]), weight + i, first + i, moment(second, i));
  });
}

void update_blocks(const UpdateRule& rule, const BsrPattern& pattern, const WeightLayout& layout,
                   const float* grad, float* weight, float* first, float* second, const float* grad_scale,
                   int64_t begin, int64_t end) {
  each_kept_element(pattern, layout, begin, end, [&](const KeptElement& at) {
    if (!at.inside) return;
    const int64_t i = at.element;
    update_one(rule, scaled(grad_scale, grad[at.value]), weight + i, first + i, moment(second, i));
  });
}

#define HEWN_INSTANTIATE(T)                                                                                \
  template void update<T>(const UpdateRule&, const T*, T*, T*, T*, const T*, const T*, int64_t, int64_t);  \
  template void update_active<T>(const UpdateRule&, const WeightLayout&, const uint8_t*, const T*, T*, T*, \
                                 T*, const T*, int64_t, int64_t);
HEWN_INSTANTIATE(float)
HEWN_INSTANTIATE(double)
#undef HEWN_INSTANTIATE

}  // namespace hewn::kernels::reference
