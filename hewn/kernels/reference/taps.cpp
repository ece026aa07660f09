#include "hewn/kernels/reference/taps.h"

#include <algorithm>

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

void part_pixels(const float* in, float* even, float* odd, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    even[i] = in[2 * i];
    odd[i] = in[2 * i + 1];
  }
}

}  // namespace hewn::kernels::reference
