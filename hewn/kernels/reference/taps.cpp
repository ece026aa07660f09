#include "hewn/kernels/reference/taps.h"

#include <algorithm>
#include <limits>

#include "hewn/kernels/tile.h"

namespace hewn::kernels::reference {

void sum_taps(const TapSum& sum, int64_t columns) {
  const int64_t whole = (columns + kColumnStep - 1) / kColumnStep * kColumnStep;
  for (int64_t p = 0; p < whole; ++p) {
    float y = sum.bias;
    for (int64_t t = 0; t < sum.count; ++t) y += sum.weight[t] * sum.in[p + sum.taps[t]];
    if (sum.add != nullptr) y += sum.add[p];
    sum.out[p] = sum.relu ? std::max(0.0F, y) : y;
  }
}

void every_second(const PixelLines& lines) {
  for (int64_t y = 0; y < lines.lines; ++y) {
    for (int64_t i = 0; i < lines.count; ++i)
      lines.out[y * lines.out_line + i] = lines.in[y * lines.in_line + 2 * i];
  }
}

void pool_line(Fold fold, const PoolLine& pool, float* /*room*/) {
  for (int64_t x = 0; x < pool.count; ++x) {
    float y = fold == Fold::kMax ? -std::numeric_limits<float>::infinity() : 0.0F;
    for (int64_t line = 0; line < pool.lines; ++line) {
      for (int64_t t = 0; t < pool.kernel; ++t) {
        const int64_t at = x * pool.stride - pool.before + t * pool.dilation;
        if (at < 0 || at >= pool.width) continue;
        const float pixel = pool.in[line * pool.line + at];
        y = fold == Fold::kMax ? std::max(y, pixel) : y + pixel;
      }
    }
    pool.out[x] = y;
  }
}

float sum_lines(const float* in, int64_t line, int64_t lines, int64_t width) {
  float sum = 0;
  for (int64_t y = 0; y < lines; ++y) {
    for (int64_t x = 0; x < width; ++x) sum += in[y * line + x];
  }
  return sum;
}

}  // namespace hewn::kernels::reference
