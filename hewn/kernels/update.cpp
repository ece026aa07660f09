#include "hewn/kernels/update.h"

#include <algorithm>
#include <cmath>

#include "hewn/kernels/embedding.h"
#include "hewn/kernels/spread.h"

namespace hewn::kernels {
namespace {

/// UpdateRule with its constants folded and in the weight's own type.
template <class T>
struct Constants {
  T lr, decay, l1, momentum, beta1, beta2, epsilon, step, root, shrink, scale;
  bool nesterov;

  Constants(const UpdateRule& rule, const T* grad_scale)
      : lr(static_cast<T>(rule.lr)),
        decay(static_cast<T>(rule.kind == UpdateKind::kAdamW ? 0.0 : rule.weight_decay)),
        l1(static_cast<T>(rule.l1_decay)),
        momentum(static_cast<T>(rule.momentum)),
        beta1(static_cast<T>(rule.beta1)),
        beta2(static_cast<T>(rule.beta2)),
        epsilon(static_cast<T>(rule.epsilon)),
        step(static_cast<T>(rule.lr / rule.correction1)),
        root(static_cast<T>(1.0 / std::sqrt(rule.correction2))),
        shrink(static_cast<T>(rule.kind == UpdateKind::kAdamW ? 1.0 - rule.lr * rule.weight_decay : 1.0)),
        scale(grad_scale == nullptr ? T(1) : *grad_scale),
        nesterov(rule.nesterov) {}

  T gradient(T grad, T w) const {
    const T sign = static_cast<T>(w > T(0)) - static_cast<T>(w < T(0));
    return scale * grad + decay * w + l1 * sign;
  }
};

// Pointers one by one: read from a struct, the loops are vectorised differently and take twice as long.
template <class T>
void sgd(const Constants<T>& c, const T* grad, T* weight, T* first, const T* keep, int64_t begin,
         int64_t end) {
  const T ahead = c.nesterov ? c.momentum : T(0);
  const T direct = c.nesterov ? T(1) : T(0);
  for (int64_t i = begin; i < end; ++i) {
    const T w = weight[i];
    const T g = c.gradient(grad[i], w);
    const T m = c.momentum * first[i] + g;
    const T moved = w - c.lr * (direct * g + (ahead + (T(1) - direct)) * m);
    const bool on = keep == nullptr || keep[i] != T(0);
    first[i] = on ? m : first[i];
    weight[i] = on ? moved : w;
  }
}

template <class T>
void adam(const Constants<T>& c, const T* grad, T* weight, T* first, T* second, const T* keep, int64_t begin,
          int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const T w = weight[i];
    const T g = c.gradient(grad[i], w);
    const T m = c.beta1 * first[i] + (T(1) - c.beta1) * g;
    const T v = c.beta2 * second[i] + (T(1) - c.beta2) * g * g;
    const T moved = c.shrink * w - c.step * m / (c.root * std::sqrt(v) + c.epsilon);
    const bool on = keep == nullptr || keep[i] != T(0);
    first[i] = on ? m : first[i];
    second[i] = on ? v : second[i];
    weight[i] = on ? moved : w;
  }
}

}  // namespace

template <class T>
void update(const UpdateRule& rule, const T* grad, T* weight, T* first, T* second, const T* grad_scale,
            const T* keep, int64_t begin, int64_t end) {
  const Constants<T> constants(rule, grad_scale);
  if (rule.kind == UpdateKind::kSgd) {
    sgd(constants, grad, weight, first, keep, begin, end);
  } else {
    adam(constants, grad, weight, first, second, keep, begin, end);
  }
}

template <class T>
void update_active(const UpdateRule& rule, const WeightLayout& layout, const uint8_t* active, const T* grad,
                   T* weight, T* first, T* second, const T* grad_scale, int64_t begin, int64_t end) {
  Spread<T> supports(layout);
  const Grid& grid = layout.grid;
  for (int64_t col_block = begin; col_block < end; ++col_block) {
    const T* keep = supports.load(active, col_block);
    const int64_t last = grid.last_col(col_block);
    for (int64_t column = grid.first_col(col_block); column < last; ++column) {
      const int64_t run = column * grid.rows;
      update(rule, grad + run, weight + run, first + run, second == nullptr ? nullptr : second + run,
             grad_scale, keep, 0, grid.rows);
    }
  }
}

void update_blocks(const UpdateRule& rule, const BsrPattern& pattern, const WeightLayout& layout,
                   const float* grad, float* weight, float* first, float* second, const float* grad_scale,
                   int64_t begin, int64_t end) {
  const Constants<float> constants(rule, grad_scale);
  const auto update_run = [&](const float* g, int64_t at, int64_t count) {
    if (rule.kind == UpdateKind::kSgd) {
      sgd<float>(constants, g, weight + at, first + at, nullptr, 0, count);
    } else {
      adam<float>(constants, g, weight + at, first + at, second + at, nullptr, 0, count);
    }
  };
  each_block(pattern, grad, begin, end, [&](const float* block, int64_t, const BlockExtent& extent) {
    for (int64_t c = 0; c < extent.cols; ++c) {
      const float* g = block + c * layout.grid.block.rows;
      const int64_t run = (extent.col + c) * layout.grid.rows;
      if (layout.taps == 1) {
        update_run(g, run + extent.row, extent.rows);
      } else {
        for (int64_t r = 0; r < extent.rows; ++r) {
          update_run(g + r, run + layout.offset_of(extent.row + r), 1);
        }
      }
    }
  });
}

void update_rows(const UpdateRule& rule, const int64_t* rows, int64_t width, const float* grad, float* weight,
                 float* first, float* second, const float* grad_scale, int64_t begin, int64_t end) {
  // Rows of a large table are far apart: asked for some rows ahead, their memory is there in time.
  constexpr int64_t kAhead = 12;
  constexpr int64_t kLine = 16;
  const Constants<float> constants(rule, grad_scale);
  for (int64_t i = begin; i < end; ++i) {
    if (i + kAhead < end) {
      const int64_t next = rows[i + kAhead] * width;
      for (int64_t d = 0; d < width; d += kLine) {
        __builtin_prefetch(weight + next + d, 1);
        __builtin_prefetch(first + next + d, 1);
        if (second != nullptr) __builtin_prefetch(second + next + d, 1);
      }
    }
    const int64_t at = rows[i] * width;
    const float* g = grad + i * width;
    if (rule.kind == UpdateKind::kSgd) {
      sgd<float>(constants, g, weight + at, first + at, nullptr, 0, width);
    } else {
      adam<float>(constants, g, weight + at, first + at, second + at, nullptr, 0, width);
    }
  }
}

#define HEWN_INSTANTIATE(T)                                                                                \
  template void update<T>(const UpdateRule&, const T*, T*, T*, T*, const T*, const T*, int64_t, int64_t);  \
  template void update_active<T>(const UpdateRule&, const WeightLayout&, const uint8_t*, const T*, T*, T*, \
                                 T*, const T*, int64_t, int64_t);
HEWN_INSTANTIATE(float)
HEWN_INSTANTIATE(double)
#undef HEWN_INSTANTIATE

}  // namespace hewn::kernels
