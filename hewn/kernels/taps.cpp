// With Highway this file includes itself once per instruction set.
#include "hewn/kernels/taps.h"

#include <algorithm>
#include <limits>

#if HEWN_HIGHWAY

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
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

/// Calls body(tag, i) for vectors that cover [0, count), the last of which may begin within the one before
/// it.
template <class Body>
HWY_ATTR void each_vector(int64_t count, const Body& body) {
  const auto cover = [&](auto d) HWY_ATTR {
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    if (count < lanes) return false;
    for (int64_t i = 0; i + lanes < count; i += lanes) body(d, i);
    body(d, count - lanes);
    return true;
  };
  if (count == 0 || cover(hn::ScalableTag<float>()) || cover(hn::CappedTag<float, 8>())) return;
  if (cover(hn::CappedTag<float, 4>()) || cover(hn::CappedTag<float, 2>())) return;
  cover(hn::CappedTag<float, 1>());
}

/// The pixels in[0], in[2], ...; nothing behind the last of them is read.
template <class D>
HWY_ATTR hn::Vec<D> second_pixels(D d, const float* in) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 1) {
    const auto high = hn::LoadU(d, in + hn::Lanes(d) - 1);
    const auto low = hn::LoadU(d, in);
    return hn::ConcatUpperLower(d, hn::ConcatOdd(d, high, high), hn::ConcatEven(d, low, low));
  }
#endif
  return hn::LoadU(d, in);
}

HWY_ATTR void every_second_here(const PixelLines& lines) {
  for (int64_t y = 0; y < lines.lines; ++y) {
    const float* in = lines.in + y * lines.in_line;
    float* out = lines.out + y * lines.out_line;
    each_vector(lines.count,
                [&](auto d, int64_t i) HWY_ATTR { hn::StoreU(second_pixels(d, in + 2 * i), d, out + i); });
  }
}

struct Largest {
  static constexpr float kNothing = -std::numeric_limits<float>::infinity();
  template <class V>
  static HWY_INLINE V fold(V a, V b) {
    return hn::Max(a, b);
  }
};
struct Total {
  static constexpr float kNothing = 0;
  template <class V>
  static HWY_INLINE V fold(V a, V b) {
    return hn::Add(a, b);
  }
};

/// First the lines, pixel by pixel, with room for what lies outside; then the pixels of each window.
template <class Folding>
HWY_ATTR void pool_line_of(const PoolLine& pool, float* room) {
  std::fill_n(room, pool.before, Folding::kNothing);
  float* folded = room + pool.before;
  std::fill(folded + (pool.lines > 0 ? pool.width : 0), room + pool.room(), Folding::kNothing);
  each_vector(pool.lines > 0 ? pool.width : 0, [&](auto d, int64_t i) HWY_ATTR {
    auto y = hn::LoadU(d, pool.in + i);
    for (int64_t l = 1; l < pool.lines; ++l) y = Folding::fold(y, hn::LoadU(d, pool.in + l * pool.line + i));
    hn::StoreU(y, d, folded + i);
  });
  if (pool.stride > 2) {
    const hn::CappedTag<float, 1> one;
    for (int64_t x = 0; x < pool.count; ++x) {
      auto y = hn::Set(one, Folding::kNothing);
      for (int64_t t = 0; t < pool.kernel; ++t)
        y = Folding::fold(y, hn::LoadU(one, room + x * pool.stride + t * pool.dilation));
      hn::StoreU(y, one, pool.out + x);
    }
    return;
  }
  each_vector(pool.count, [&](auto d, int64_t i) HWY_ATTR {
    const float* first = room + i * pool.stride;
    auto y = hn::Set(d, Folding::kNothing);
    for (int64_t t = 0; t < pool.kernel; ++t, first += pool.dilation)
      y = Folding::fold(y, pool.stride == 2 ? second_pixels(d, first) : hn::LoadU(d, first));
    hn::StoreU(y, d, pool.out + i);
  });
}

HWY_ATTR void pool_line_here(Fold fold, const PoolLine& pool, float* room) {
  fold == Fold::kMax ? pool_line_of<Largest>(pool, room) : pool_line_of<Total>(pool, room);
}

HWY_ATTR float sum_lines_here(const float* in, int64_t line, int64_t lines, int64_t width) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto total = hn::Zero(d);
  for (int64_t x = 0; x < width; x += lanes) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(std::min(lanes, width - x)));
    for (int64_t y = 0; y < lines; ++y) total = hn::Add(total, hn::MaskedLoad(inside, d, in + y * line + x));
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

}  // namespace

}  // namespace hewn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hewn::kernels {
namespace {

HWY_EXPORT(sum_taps_here);
HWY_EXPORT(every_second_here);
HWY_EXPORT(pool_line_here);
HWY_EXPORT(sum_lines_here);

}  // namespace

void sum_taps(const TapSum& sum, int64_t columns) { HWY_DYNAMIC_DISPATCH(sum_taps_here)(sum, columns); }
void every_second(const PixelLines& lines) { HWY_DYNAMIC_DISPATCH(every_second_here)(lines); }
void pool_line(Fold fold, const PoolLine& pool, float* room) {
  HWY_DYNAMIC_DISPATCH(pool_line_here)(fold, pool, room);
}
float sum_lines(const float* in, int64_t line, int64_t lines, int64_t width) {
  return HWY_DYNAMIC_DISPATCH(sum_lines_here)(in, line, lines, width);
}

}  // namespace hewn::kernels
#endif  // HWY_ONCE

#else  // without Highway

#include "hewn/kernels/reference/taps.h"

namespace hewn::kernels {

void sum_taps(const TapSum& sum, int64_t columns) { reference::sum_taps(sum, columns); }
void every_second(const PixelLines& lines) { reference::every_second(lines); }
void pool_line(Fold fold, const PoolLine& pool, float* room) { reference::pool_line(fold, pool, room); }
float sum_lines(const float* in, int64_t line, int64_t lines, int64_t width) {
  return reference::sum_lines(in, line, lines, width);
}

}  // namespace hewn::kernels

#endif

#if !HEWN_HIGHWAY || HWY_ONCE
namespace hewn::kernels {

int64_t PoolLine::room() const {
  const int64_t windows = (count - 1) * stride + (kernel - 1) * dilation + 1;
  return std::max(windows, before + width);
}

}  // namespace hewn::kernels
#endif
