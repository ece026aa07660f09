// With Highway this file includes itself once per instruction set.
#include "hewn/kernels/simd/column_softmax.h"

#if HEWN_HIGHWAY

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hewn/kernels/simd/column_softmax.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hewn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Full = hn::ScalableTag<float>;
using V = hn::Vec<Full>;
constexpr Full kFull;

/// exp(x) for x <= 0, to 2e-7 of it; 0 where it would not be a normal number.
HWY_INLINE V exp_below(V x) {
  const hn::RebindToSigned<Full> bits;
  const V least = hn::Set(kFull, -87.3F);
  const V whole = hn::Round(hn::Mul(hn::Max(x, least), hn::Set(kFull, 1.44269504F)));
  V r = hn::NegMulAdd(whole, hn::Set(kFull, 0.693359375F), x);
  r = hn::NegMulAdd(whole, hn::Set(kFull, -2.12194440e-4F), r);
  V p = hn::MulAdd(r, hn::Set(kFull, 0.0083125247F), hn::Set(kFull, 0.0418901636F));
  p = hn::MulAdd(p, r, hn::Set(kFull, 0.166671146F));
  p = hn::MulAdd(p, r, hn::Set(kFull, 0.499992314F));
  p = hn::MulAdd(hn::Mul(r, r), p, hn::Add(r, hn::Set(kFull, 1.0F)));
  const auto exponent = hn::Add(hn::ConvertTo(bits, whole), hn::Set(bits, 127));
  // A product, and this way round: what is no number stays so.
  const V y = hn::Mul(p, hn::BitCast(kFull, hn::ShiftLeft<23>(exponent)));
  return hn::IfThenZeroElse(hn::Lt(x, least), y);
}

HWY_ATTR void exp_of_columns_here(float* numbers, int64_t rows, int64_t stride, int64_t columns,
                                  float* sums) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(kFull));
  for (int64_t c = 0; c < columns; c += lanes) {
    float* column = numbers + c;
    // Two of each, so that they do not wait for each other.
    V most = hn::LoadU(kFull, column);
    V other = most;
    int64_t row = 0;
    for (; row + 2 <= rows; row += 2) {
      most = hn::Max(most, hn::LoadU(kFull, column + row * stride));
      other = hn::Max(other, hn::LoadU(kFull, column + (row + 1) * stride));
    }
    if (row < rows) most = hn::Max(most, hn::LoadU(kFull, column + row * stride));
    most = hn::Max(most, other);
    V sum = hn::Zero(kFull);
    for (row = 0; row < rows; ++row) {
      const V y = exp_below(hn::Sub(hn::LoadU(kFull, column + row * stride), most));
      hn::StoreU(y, kFull, column + row * stride);
      sum = hn::Add(sum, y);
    }
    hn::StoreU(sum, kFull, sums + c);
  }
}

HWY_ATTR void divide_columns_here(const ColumnQuotient& quotient) {
  const ColumnQuotient q = quotient;
  const auto lanes = static_cast<int64_t>(hn::Lanes(kFull));
  int64_t c = 0;
  for (; c + lanes <= q.columns; c += lanes) {
    const V share = hn::Div(hn::Set(kFull, 1.0F), hn::LoadU(kFull, q.sums + c));
    for (int64_t row = 0; row < q.rows; ++row) {
      hn::StoreU(hn::Mul(hn::LoadU(kFull, q.numbers + row * q.stride + c), share), kFull,
                 q.out + row * q.out_stride + c);
    }
  }
  for (; c < q.columns; ++c) {
    const float share = 1.0F / q.sums[c];
    for (int64_t row = 0; row < q.rows; ++row) {
      q.out[row * q.out_stride + c] = q.numbers[row * q.stride + c] * share;
    }
  }
}

}  // namespace
}  // namespace hewn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hewn::kernels {
namespace {

HWY_EXPORT(exp_of_columns_here);
HWY_EXPORT(divide_columns_here);

}  // namespace

void exp_of_columns(float* numbers, int64_t rows, int64_t stride, int64_t columns, float* sums) {
  HWY_DYNAMIC_DISPATCH(exp_of_columns_here)(numbers, rows, stride, columns, sums);
}
void divide_columns(const ColumnQuotient& quotient) { HWY_DYNAMIC_DISPATCH(divide_columns_here)(quotient); }

}  // namespace hewn::kernels
#endif  // HWY_ONCE

#else  // without Highway

#include <algorithm>
#include <cmath>

namespace hewn::kernels {

void exp_of_columns(float* numbers, int64_t rows, int64_t stride, int64_t columns, float* sums) {
  for (int64_t c = 0; c < columns; ++c) {
    float most = numbers[c];
    for (int64_t row = 1; row < rows; ++row) most = std::max(most, numbers[row * stride + c]);
    sums[c] = 0;
    for (int64_t row = 0; row < rows; ++row) {
      float& number = numbers[row * stride + c];
      number = std::exp(number - most);
      sums[c] += number;
    }
  }
}

void divide_columns(const ColumnQuotient& quotient) {
  for (int64_t row = 0; row < quotient.rows; ++row) {
    for (int64_t c = 0; c < quotient.columns; ++c) {
      quotient.out[row * quotient.out_stride + c] =
          quotient.numbers[row * quotient.stride + c] * (1.0F / quotient.sums[c]);
    }
  }
}

}  // namespace hewn::kernels

#endif
