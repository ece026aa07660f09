#include "hewn/kernels/reference/tile.h"

namespace hewn::kernels::reference {

void tile(const TileArguments& t) {
  for (int64_t j = 0; j < t.outputs; ++j) {
    for (int64_t c = 0; c < t.columns; ++c) {
      double sum = t.bias == nullptr ? 0.0 : t.bias[j];
      int64_t i = 0;
      for (int64_t run = 0; run < t.run_count; ++run) {
        const int64_t start = t.runs[run].row * (t.run_unit == 0 ? t.in_stride : t.run_unit);
        for (int64_t r = 0; r < t.runs[run].length; ++r, ++i) {
          sum += static_cast<double>(t.in[start + r * t.in_stride + c]) * t.weight[i * t.weight_stride + j];
        }
      }
      float& out = t.out[j * t.out_stride + c];
      if (t.accumulate) sum += out;
      if (t.add != nullptr) sum += t.add[j * t.out_stride + c];
      out = static_cast<float>(t.relu && sum < 0 ? 0.0 : sum);
    }
  }
}

void pack_eight(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t features) {
  for (int64_t j = 0; j < features; ++j) {
    for (int64_t i = 0; i < 8; ++i) to[j * to_stride + i] = from[i * from_stride + j];
  }
}

void unpack_eight(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t features) {
  for (int64_t j = 0; j < features; ++j) {
    for (int64_t i = 0; i < 8; ++i) to[i * to_stride + j] = from[j * from_stride + i];
  }
}

}  // namespace hewn::kernels::reference
