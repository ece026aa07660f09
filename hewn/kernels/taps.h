#pragma once

#include <cstdint>

namespace hewn::kernels {

/// A window over one channel of planes, as depthwise convolutions have it: its taps are at fixed distances.
///
///   out[p] = bias + sum over t of weight[t] * in[p + taps[t]]
///
/// plus add[p] (may be null), then max(0, .) where relu is set. out may not be in.
struct TapSum {
  const float* in = nullptr;
  float* out = nullptr;
  const float* weight = nullptr;
  const int64_t* taps = nullptr;
  int64_t count = 0;  // of the taps
  float bias = 0;
  const float* add = nullptr;
  bool relu = false;
};

/// For the pixels [0, columns), and up to seven more to a multiple of kColumnStep.
void sum_taps(const TapSum& sum, int64_t columns);

/// even[i] = in[2 i] and odd[i] = in[2 i + 1] for i below `count`: pixels that are a stride of two apart.
void part_pixels(const float* in, float* even, float* odd, int64_t count);

}  // namespace hewn::kernels
