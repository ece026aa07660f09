// With Highway this file includes itself once per instruction set.
#include "hewn/kernels/taps.h"

#if HEWN_HIGHWAY

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hewn/kernels/taps.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.
#include <hwy/highway.h>

#include "hewn/kernels/tile.h"

HWY_BEFORE_NAMESPACE();
namespace hewn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// So many vectors beside each other: as many sums that do not wait for each other.
template <int kVectors, class D>
HWY_ATTR void sum_vectors(D d, const TapSum& sum, int64_t at) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> y[std::size_t{kVectors}];
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) y[v] = hn::Set(d, sum.bias);
  for (int64_t t = 0; t < sum.count; ++t) {
    const float* in = sum.in + at + sum.taps[t];
    const auto w = hn::Set(d, sum.weight[t]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) y[v] = hn::MulAdd(hn::LoadU(d, in + v * lanes), w, y[v]);
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    if (sum.add != nullptr) y[v] = hn::Add(y[v], hn::LoadU(d, sum.add + at + v * lanes));
    if (sum.relu) y[v] = hn::Max(y[v], hn::Zero(d));
    hn::StoreU(y[v], d, sum.out + at + v * lanes);
  }
}

HWY_ATTR void sum_taps_here(const TapSum& sum, int64_t columns) {
  const hn::ScalableTag<float> full;
  const hn::CappedTag<float, kColumnStep> step;
  const auto lanes = static_cast<int64_t>(hn::Lanes(full));
  const auto few = static_cast<int64_t>(hn::Lanes(step));
  const int64_t whole = (columns + kColumnStep - 1) / kColumnStep * kColumnStep;
  int64_t at = 0;
  for (; at + 8 * lanes <= whole; at += 8 * lanes) sum_vectors<8>(full, sum, at);
  for (; at + 4 * lanes <= whole; at += 4 * lanes) sum_vectors<4>(full, sum, at);
  for (; at + lanes <= whole; at += lanes) sum_vectors<1>(full, sum, at);
  for (; at < whole; at += few) sum_vectors<1>(step, sum, at);
}

HWY_ATTR void part_pixels_here(const float* in, float* even, float* odd, int64_t count) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> full;
  const auto lanes = static_cast<int64_t>(hn::Lanes(full));
  for (; i + lanes <= count; i += lanes) {
    hn::Vec<decltype(full)> a;
    hn::Vec<decltype(full)> b;
    hn::LoadInterleaved2(full, in + 2 * i, a, b);
    hn::StoreU(a, full, even + i);
    hn::StoreU(b, full, odd + i);
  }
#endif
  for (; i < count; ++i) {
    even[i] = in[2 * i];
    odd[i] = in[2 * i + 1];
  }
}

}  // namespace

}  // namespace hewn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hewn::kernels {
namespace {

HWY_EXPORT(sum_taps_here);
HWY_EXPORT(part_pixels_here);

}  // namespace

void sum_taps(const TapSum& sum, int64_t columns) { HWY_DYNAMIC_DISPATCH(sum_taps_here)(sum, columns); }
void part_pixels(const float* in, float* even, float* odd, int64_t count) {
  HWY_DYNAMIC_DISPATCH(part_pixels_here)(in, even, odd, count);
}

}  // namespace hewn::kernels
#endif  // HWY_ONCE

#else  // without Highway

#include "hewn/kernels/reference/taps.h"

namespace hewn::kernels {

void sum_taps(const TapSum& sum, int64_t columns) { reference::sum_taps(sum, columns); }
void part_pixels(const float* in, float* even, float* odd, int64_t count) {
  reference::part_pixels(in, even, odd, count);
}

}  // namespace hewn::kernels

#endif
