#include <algorithm>
#include <cmath>
#include <cstring>

#include "hewn/data/folders/resample.h"

namespace hewn::data {
namespace {

/// std::floor is a call where the processor may be an old one: this took as long as the weights themselves.
int64_t whole_below(double x) {
  const auto whole = static_cast<int64_t>(x);
  return whole - (static_cast<double>(whole) > x ? 1 : 0);
}

}  // namespace

void make_axis(const ResampleSpan& span, ResampleAxis& axis) {
  const double radius = std::max(1.0, span.step);
  const auto middle = [&](int64_t i) {
    return span.begin + (static_cast<double>(span.mirror ? span.outputs - 1 - i : i) + 0.5) * span.step;
  };
  axis.low = span.low;
  axis.high = span.high;
  axis.taps = 1;
  axis.first.resize(static_cast<size_t>(span.outputs));
  for (int64_t i = 0; i < span.outputs; ++i) {
    // Inputs whose middles lie inside the triangle.
    const auto first = whole_below(middle(i) - radius - 0.5) + 1;
    const auto end = -whole_below(0.5 - middle(i) - radius);
    axis.first[static_cast<size_t>(i)] = std::max(first, span.low);
    axis.taps = std::max(axis.taps, std::min(end, span.high) - std::max(first, span.low));
  }
  axis.weight.resize(static_cast<size_t>(span.outputs * axis.taps));
  for (int64_t i = 0; i < span.outputs; ++i) {
    int64_t& first = axis.first[static_cast<size_t>(i)];
    first = std::min(first, span.high - axis.taps);
    float* weight = axis.weight.data() + i * axis.taps;
    const auto from = static_cast<float>(static_cast<double>(first) + 0.5 - middle(i));
    const auto per_input = static_cast<float>(1 / radius);
    float sum = 0;
    for (int64_t t = 0; t < axis.taps; ++t) {
      weight[t] = std::max(0.0F, 1 - std::abs(from + static_cast<float>(t)) * per_input);
      sum += weight[t];
    }
    for (int64_t t = 0; t < axis.taps; ++t) weight[t] /= sum;
  }
}

void resample(const uint8_t* input, int64_t stride, const ResampleAxis& rows, const ResampleAxis& columns,
              float* scratch, uint8_t* out) {
  // Small test images are taken as they are.
  const int64_t width = columns.outputs();
  const bool same =
      rows.taps == 1 && columns.taps == 1 && columns.first.back() == columns.first[0] + width - 1;
  for (size_t i = 0; same && i < rows.first.size(); ++i) {
    std::memcpy(out + 3 * width * static_cast<int64_t>(i),
                input + rows.first[i] * stride + 3 * columns.first[0], static_cast<size_t>(3 * width));
  }
  if (!same) resample_rows(input, stride, rows, columns, scratch, out);
}

int64_t resample_scratch(const ResampleAxis& columns) {
  return 3 * (columns.high - columns.low + columns.outputs()) + 2 * kResamplePadding;
}

}  // namespace hewn::data
