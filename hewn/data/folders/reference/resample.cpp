#include "hewn/data/folders/reference/resample.h"

#include <algorithm>
#include <cmath>

namespace hewn::data::reference {
namespace {

/// The height of a triangle over output `i` at the middle of input `at`.
double triangle(const ResampleSpan& span, int64_t i, int64_t at) {
  const double radius = std::max(1.0, span.step);
  const double middle = span.begin + (static_cast<double>(i) + 0.5) * span.step;
  return std::max(0.0, 1 - std::abs(static_cast<double>(at) + 0.5 - middle) / radius);
}

}  // namespace

void resample(const uint8_t* input, int64_t stride, const ResampleSpan& rows, const ResampleSpan& columns,
              double* out) {
  for (int64_t i = 0; i < rows.outputs; ++i) {
    for (int64_t j = 0; j < columns.outputs; ++j) {
      const int64_t from_i = rows.mirror ? rows.outputs - 1 - i : i;
      const int64_t from_j = columns.mirror ? columns.outputs - 1 - j : j;
      double sum[3] = {};
      double weights = 0;
      for (int64_t y = rows.low; y < rows.high; ++y) {
        for (int64_t x = columns.low; x < columns.high; ++x) {
          const double weight = triangle(rows, from_i, y) * triangle(columns, from_j, x);
          weights += weight;
          for (int64_t c = 0; c < 3; ++c) sum[c] += weight * input[y * stride + 3 * x + c];
        }
      }
      for (int64_t c = 0; c < 3; ++c) out[3 * (i * columns.outputs + j) + c] = sum[c] / weights;
    }
  }
}

}  // namespace hewn::data::reference
