// With Highway this file includes itself once per instruction set.
#include "hewn/kernels/vector_math.h"

#if HEWN_HIGHWAY

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hewn/kernels/vector_math.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace hewn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Full = hn::ScalableTag<float>;
using V = hn::Vec<Full>;
constexpr Full kFull;
constexpr int64_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

HWY_INLINE V number(float x) { return hn::Set(kFull, x); }

/// Calls f on whole vectors, and on a padded copy of what is left.
template <class F>
HWY_INLINE void each(const float* in, float* out, int64_t count, const F& f) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(kFull));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(kFull, in + i)), kFull, out + i);
  if (i == count) return;
  HWY_ALIGN float rest[static_cast<size_t>(kMostLanes)] = {};
  std::copy_n(in + i, count - i, rest);
  hn::Store(f(hn::Load(kFull, rest)), kFull, rest);
  std::copy_n(rest, count - i, out + i);
}

/// For arguments of any size; beyond these the result is as good as 0 or infinite.
HWY_INLINE V exp_of(V x) { return hn::Exp(kFull, hn::Min(hn::Max(x, number(-87.3F)), number(87.3F))); }

HWY_INLINE V exp_or_infinite(V x) {
  return hn::IfThenElse(hn::Gt(x, number(88.7F)), number(std::numeric_limits<float>::infinity()),
                        hn::Exp(kFull, hn::Min(x, number(88.7F))));
}

HWY_INLINE V sigmoid_of(V x) { return hn::Div(number(1), hn::Add(number(1), exp_of(hn::Neg(x)))); }

HWY_INLINE V tanh_of(V x) {
  // 1 - 2 / (e^2x + 1) loses digits near 0, the series does beyond.
  const V e = exp_of(hn::Add(x, x));
  const V far = hn::Sub(number(1), hn::Div(number(2), hn::Add(e, number(1))));
  const V x2 = hn::Mul(x, x);
  V series = hn::MulAdd(x2, number(-17.0F / 315), number(2.0F / 15));
  series = hn::MulAdd(series, x2, number(-1.0F / 3));
  const V near = hn::MulAdd(hn::Mul(series, x2), x, x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), number(0.2F)), near, hn::Min(far, number(1)));
}

/// x P(x^2) / Q(x^2), fitted to 2e-9 on the range in which floats can tell the result from 1.
HWY_INLINE V erf_of(V x) {
  const V edge = number(3.92F);
  const V t = hn::Min(hn::Mul(x, x), hn::Mul(edge, edge));
  V p = hn::MulAdd(t, number(-1.333744226e-08F), number(4.718087894e-06F));
  p = hn::MulAdd(p, t, number(3.803817090e-04F));
  p = hn::MulAdd(p, t, number(3.832400311e-03F));
  p = hn::MulAdd(p, t, number(5.427855253e-02F));
  p = hn::MulAdd(p, t, number(1.847009212e-01F));
  p = hn::MulAdd(p, t, number(1.128379226F));
  V q = hn::MulAdd(t, number(6.342172128e-05F), number(1.305047539e-03F));
  q = hn::MulAdd(q, t, number(1.543102507e-02F));
  q = hn::MulAdd(q, t, number(1.137756929e-01F));
  q = hn::MulAdd(q, t, number(4.970204532e-01F));
  q = hn::MulAdd(q, t, number(1));
  const V near = hn::Div(hn::Mul(x, p), q);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), edge), near, hn::CopySign(number(1), x));
}

HWY_INLINE V hard(V x, V a, V b) { return hn::Max(number(0), hn::Min(number(1), hn::MulAdd(x, a, b))); }

HWY_ATTR void apply_here(Function function, float a, float b, const float* in, float* out, int64_t count) {
  const V va = number(a);
  const V vb = number(b);
  const V half = number(0.5F);
  switch (function) {
    case Function::kRelu:
      return each(in, out, count, [](V x) HWY_ATTR { return hn::Max(x, number(0)); });
    case Function::kLeakyRelu:
      return each(in, out, count,
                  [&](V x) HWY_ATTR { return hn::IfThenElse(hn::Gt(x, number(0)), x, hn::Mul(x, va)); });
    case Function::kClip:
      return each(in, out, count, [&](V x) HWY_ATTR { return hn::Min(hn::Max(x, va), vb); });
    case Function::kSigmoid:
      return each(in, out, count, [](V x) HWY_ATTR { return sigmoid_of(x); });
    case Function::kHardSigmoid:
      return each(in, out, count, [&](V x) HWY_ATTR { return hard(x, va, vb); });
    case Function::kHardSwish:
      return each(in, out, count, [&](V x) HWY_ATTR { return hn::Mul(x, hard(x, number(1.0F / 6), half)); });
    case Function::kSilu:
      return each(in, out, count, [](V x) HWY_ATTR { return hn::Mul(x, sigmoid_of(x)); });
    case Function::kTanh:
      return each(in, out, count, [](V x) HWY_ATTR { return tanh_of(x); });
    case Function::kExp:
      return each(in, out, count, [](V x) HWY_ATTR { return exp_or_infinite(x); });
    case Function::kErf:
      return each(in, out, count, [](V x) HWY_ATTR { return erf_of(x); });
    case Function::kGelu:
      return each(in, out, count, [&](V x) HWY_ATTR {
        return hn::Mul(hn::Mul(x, half), hn::Add(number(1), erf_of(hn::Mul(x, number(0.70710678F)))));
      });
    case Function::kGeluTanh:
      return each(in, out, count, [&](V x) HWY_ATTR {
        const V cubic = hn::MulAdd(hn::Mul(number(0.044715F), hn::Mul(x, x)), x, x);
        return hn::Mul(hn::Mul(x, half), hn::Add(number(1), tanh_of(hn::Mul(number(0.79788456F), cubic))));
      });
    case Function::kSqrt:
      return each(in, out, count, [](V x) HWY_ATTR { return hn::Sqrt(x); });
  }
}

template <class F>
HWY_INLINE void each_pair(const float* x, int64_t x_step, const float* y, int64_t y_step, float* out,
                          int64_t count, const F& f) {
  if (x_step == 0) {
    const V first = number(*x);
    return y_step == 0 ? each(out, out, count, [&](V) HWY_ATTR { return f(first, number(*y)); })
                       : each(y, out, count, [&](V v) HWY_ATTR { return f(first, v); });
  }
  if (y_step == 0) {
    const V second = number(*y);
    return each(x, out, count, [&](V v) HWY_ATTR { return f(v, second); });
  }
  const auto lanes = static_cast<int64_t>(hn::Lanes(kFull));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(f(hn::LoadU(kFull, x + i), hn::LoadU(kFull, y + i)), kFull, out + i);
  }
  if (i == count) return;
  HWY_ALIGN float rest[static_cast<size_t>(kMostLanes)] = {};
  HWY_ALIGN float other[static_cast<size_t>(kMostLanes)] = {};
  std::copy_n(x + i, count - i, rest);
  std::copy_n(y + i, count - i, other);
  hn::Store(f(hn::Load(kFull, rest), hn::Load(kFull, other)), kFull, rest);
  std::copy_n(rest, count - i, out + i);
}

HWY_ATTR void combine_here(Pair pair, const float* x, int64_t x_step, const float* y, int64_t y_step,
                           float* out, int64_t count) {
  const auto run = [&](auto f) HWY_ATTR { each_pair(x, x_step, y, y_step, out, count, f); };
  switch (pair) {
    case Pair::kAdd:
      return run([](V a, V b) HWY_ATTR { return hn::Add(a, b); });
    case Pair::kSub:
      return run([](V a, V b) HWY_ATTR { return hn::Sub(a, b); });
    case Pair::kMul:
      return run([](V a, V b) HWY_ATTR { return hn::Mul(a, b); });
    case Pair::kDiv:
      return run([](V a, V b) HWY_ATTR { return hn::Div(a, b); });
    case Pair::kMax:
      return run([](V a, V b) HWY_ATTR { return hn::Max(a, b); });
    case Pair::kMin:
      return run([](V a, V b) HWY_ATTR { return hn::Min(a, b); });
  }
}

HWY_ATTR float sum_here(const float* in, int64_t count) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(kFull));
  V total[4] = {number(0), number(0), number(0), number(0)};
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (int64_t k = 0; k < 4; ++k) total[k] = hn::Add(total[k], hn::LoadU(kFull, in + i + k * lanes));
  }
  for (; i + lanes <= count; i += lanes) total[0] = hn::Add(total[0], hn::LoadU(kFull, in + i));
  float rest = 0;
  for (; i < count; ++i) rest += in[i];
  const V all = hn::Add(hn::Add(total[0], total[1]), hn::Add(total[2], total[3]));
  return rest + hn::GetLane(hn::SumOfLanes(kFull, all));
}

HWY_ATTR void softmax_here(const float* in, float* out, int64_t count) {
  if (count == 0) return;
  const auto lanes = static_cast<int64_t>(hn::Lanes(kFull));
  V most = number(in[0]);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) most = hn::Max(most, hn::LoadU(kFull, in + i));
  for (; i < count; ++i) most = hn::Max(most, number(in[i]));
  const V top = hn::MaxOfLanes(kFull, most);
  each(in, out, count, [&](V x) HWY_ATTR { return hn::Exp(kFull, hn::Sub(x, top)); });
  const V factor = number(1 / sum_here(out, count));
  each(out, out, count, [&](V x) HWY_ATTR { return hn::Mul(x, factor); });
}

/// One vector of columns.
HWY_INLINE void normalise_lanes(const ColumnNorm& norm, const float* in, float* out) {
  const V share = number(1 / static_cast<float>(norm.rows));
  V mean = number(0);
  for (int64_t row = 0; row < norm.rows; ++row)
    mean = hn::Add(mean, hn::LoadU(kFull, in + row * norm.stride));
  mean = hn::Mul(mean, share);
  V variance = number(0);
  for (int64_t row = 0; row < norm.rows; ++row) {
    const V d = hn::Sub(hn::LoadU(kFull, in + row * norm.stride), mean);
    variance = hn::MulAdd(d, d, variance);
  }
  const V factor = hn::Div(number(1), hn::Sqrt(hn::MulAdd(variance, share, number(norm.epsilon))));
  for (int64_t row = 0; row < norm.rows; ++row) {
    const V d = hn::Mul(hn::Sub(hn::LoadU(kFull, in + row * norm.stride), mean), factor);
    const V shift = number(norm.shift == nullptr ? 0 : norm.shift[row]);
    hn::StoreU(hn::MulAdd(d, number(norm.scale[row]), shift), kFull, out + row * norm.stride);
  }
}

HWY_ATTR void normalise_columns_here(const ColumnNorm& norm, const float* in, float* out, int64_t columns) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(kFull));
  int64_t c = 0;
  for (; c + lanes <= columns; c += lanes) normalise_lanes(norm, in + c, out + c);
  for (; c < columns; ++c) {
    float mean = 0;
    float variance = 0;
    for (int64_t row = 0; row < norm.rows; ++row) mean += in[row * norm.stride + c];
    mean /= static_cast<float>(norm.rows);
    for (int64_t row = 0; row < norm.rows; ++row) {
      const float d = in[row * norm.stride + c] - mean;
      variance += d * d;
    }
    const float factor = 1 / std::sqrt(variance / static_cast<float>(norm.rows) + norm.epsilon);
    for (int64_t row = 0; row < norm.rows; ++row) {
      const float shift = norm.shift == nullptr ? 0 : norm.shift[row];
      out[row * norm.stride + c] = (in[row * norm.stride + c] - mean) * factor * norm.scale[row] + shift;
    }
  }
}

}  // namespace

}  // namespace hewn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hewn::kernels {
namespace {

HWY_EXPORT(apply_here);
HWY_EXPORT(combine_here);
HWY_EXPORT(softmax_here);
HWY_EXPORT(sum_here);
HWY_EXPORT(normalise_columns_here);

}  // namespace

void apply(Function function, float a, float b, const float* in, float* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(apply_here)(function, a, b, in, out, count);
}
void combine(Pair pair, const float* x, int64_t x_step, const float* y, int64_t y_step, float* out,
             int64_t count) {
  HWY_DYNAMIC_DISPATCH(combine_here)(pair, x, x_step, y, y_step, out, count);
}
void softmax(const float* in, float* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(softmax_here)(in, out, count);
}
float sum(const float* in, int64_t count) { return HWY_DYNAMIC_DISPATCH(sum_here)(in, count); }
void normalise_columns(const ColumnNorm& norm, const float* in, float* out, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(normalise_columns_here)(norm, in, out, columns);
}

}  // namespace hewn::kernels
#endif  // HWY_ONCE

#else  // without Highway

#include "hewn/kernels/reference/vector_math.h"

namespace hewn::kernels {

void apply(Function function, float a, float b, const float* in, float* out, int64_t count) {
  reference::apply(function, a, b, in, out, count);
}
void combine(Pair pair, const float* x, int64_t x_step, const float* y, int64_t y_step, float* out,
             int64_t count) {
  reference::combine(pair, x, x_step, y, y_step, out, count);
}
void softmax(const float* in, float* out, int64_t count) { reference::softmax(in, out, count); }
float sum(const float* in, int64_t count) { return reference::sum(in, count); }
void normalise_columns(const ColumnNorm& norm, const float* in, float* out, int64_t columns) {
  reference::normalise_columns(norm, in, out, columns);
}

}  // namespace hewn::kernels

#endif
