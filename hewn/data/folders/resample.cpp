// With Highway this file includes itself once per instruction set.
#include "hewn/data/folders/resample.h"

#if HEWN_HIGHWAY

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hewn/data/folders/resample.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hewn::data::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// out[x] = sum of weight[t] * rows[t * stride + x]; reads and writes up to a vector more than `count`.
void sum_rows(const uint8_t* rows, int64_t stride, const float* weight, int64_t taps, int64_t count,
              float* out) {
  const hn::ScalableTag<float> floats;
  const hn::Rebind<int32_t, decltype(floats)> words;
  const hn::Rebind<uint8_t, decltype(floats)> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(floats));
  for (int64_t x = 0; x < count; x += lanes) {
    auto sum = hn::Zero(floats);
    for (int64_t t = 0; t < taps; ++t) {
      const auto pixels =
          hn::ConvertTo(floats, hn::PromoteTo(words, hn::LoadU(bytes, rows + t * stride + x)));
      sum = hn::MulAdd(hn::Set(floats, weight[t]), pixels, sum);
    }
    hn::StoreU(sum, floats, out + x);
  }
}

/// One row of pixels from one row of pixels. A vector of four holds a pixel and a stranger, which the next
/// pixel overwrites.
template <int64_t kTaps>  // 0: any number
void sum_columns(const float* row, const ResampleAxis& columns, float* out) {
  const hn::CappedTag<float, 4> four;
  const auto step = static_cast<int64_t>(hn::Lanes(four));
  const int64_t outputs = columns.outputs();
  const int64_t taps = kTaps == 0 ? columns.taps : kTaps;
  const float* weight = columns.weight.data();
  for (int64_t j = 0; j < outputs; ++j, weight += taps) {
    const float* from = row + 3 * (columns.first[static_cast<size_t>(j)] - columns.low);
    for (int64_t c = 0; c < 3; c += step) {
      auto sum = hn::Mul(hn::Set(four, weight[0]), hn::LoadU(four, from + c));
      for (int64_t t = 1; t < taps; ++t) {
        sum = hn::MulAdd(hn::Set(four, weight[t]), hn::LoadU(four, from + 3 * t + c), sum);
      }
      hn::StoreU(sum, four, out + 3 * j + c);
    }
  }
}

void round_row(const float* from, int64_t count, uint8_t* out) {
  const hn::ScalableTag<float> floats;
  const hn::Rebind<uint8_t, decltype(floats)> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(floats));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::DemoteTo(bytes, hn::NearestInt(hn::LoadU(floats, from + i))), bytes, out + i);
  }
  for (; i < count; ++i) out[i] = static_cast<uint8_t>(from[i] + 0.5F);
}

void resample_here(const uint8_t* input, int64_t stride, const ResampleAxis& rows,
                   const ResampleAxis& columns, float* scratch, uint8_t* out) {
  const int64_t width = 3 * (columns.high - columns.low);
  float* sums = scratch + width + kResamplePadding;
  const auto sum_row = columns.taps == 2   ? sum_columns<2>
                       : columns.taps == 3 ? sum_columns<3>
                       : columns.taps == 4 ? sum_columns<4>
                                           : sum_columns<0>;
  for (int64_t i = 0; i < rows.outputs(); ++i) {
    const auto n = static_cast<size_t>(i);
    sum_rows(input + rows.first[n] * stride + 3 * columns.low, stride, rows.weight.data() + i * rows.taps,
             rows.taps, width, scratch);
    sum_row(scratch, columns, sums);
    round_row(sums, 3 * columns.outputs(), out + 3 * i * columns.outputs());
  }
}

}  // namespace
}  // namespace hewn::data::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hewn::data {
HWY_EXPORT(resample_here);
void resample_rows(const uint8_t* input, int64_t stride, const ResampleAxis& rows,
                   const ResampleAxis& columns, float* scratch, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(resample_here)(input, stride, rows, columns, scratch, out);
}
}  // namespace hewn::data
#endif

#else

#include <algorithm>

namespace hewn::data {

void resample_rows(const uint8_t* input, int64_t stride, const ResampleAxis& rows,
                   const ResampleAxis& columns, float* scratch, uint8_t* out) {
  const int64_t width = 3 * (columns.high - columns.low);
  for (int64_t i = 0; i < rows.outputs(); ++i) {
    std::fill_n(scratch, width, 0.0F);
    for (int64_t t = 0; t < rows.taps; ++t) {
      const uint8_t* row = input + (rows.first[static_cast<size_t>(i)] + t) * stride + 3 * columns.low;
      const float weight = rows.weight[static_cast<size_t>(i * rows.taps + t)];
      for (int64_t x = 0; x < width; ++x) scratch[x] += weight * static_cast<float>(row[x]);
    }
    for (int64_t j = 0; j < columns.outputs(); ++j) {
      const float* from = scratch + 3 * (columns.first[static_cast<size_t>(j)] - columns.low);
      const float* weight = columns.weight.data() + j * columns.taps;
      float sum[3] = {};
      for (int64_t t = 0; t < columns.taps; ++t) {
        for (int64_t c = 0; c < 3; ++c) sum[c] += weight[t] * from[3 * t + c];
      }
      for (const float value : sum) *out++ = static_cast<uint8_t>(std::min(255.0F, value + 0.5F));
    }
  }
}

}  // namespace hewn::data

#endif
