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

/// Lines of an image, of which every second pixel is wanted: out[y][i] = in[y][2 i] for i below `count`.
/// Nothing behind the last of them is read.
struct PixelLines {
  const float* in = nullptr;
  int64_t in_line = 0;  // floats from one line to the next
  float* out = nullptr;
  int64_t out_line = 0;
  int64_t lines = 0;
  int64_t count = 0;
};
void every_second(const PixelLines& lines);

enum class Fold { kMax, kSum };

/// One line of a pool over an image. What lies outside of the image does not count.
///
///   out[x] = the largest, or the sum, of in[y][x * stride - before + t * dilation] over y below `lines` and
///   t below `kernel`
struct PoolLine {
  const float* in = nullptr;
  int64_t line = 0;  // floats from one line of the window to the next
  int64_t lines = 0;
  int64_t width = 0;  // of the image
  int64_t before = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  float* out = nullptr;
  int64_t count = 0;  // of the outputs

  /// What pool_line needs in `room`.
  int64_t room() const;
};
void pool_line(Fold fold, const PoolLine& pool, float* room);

/// The sum of `lines` lines of `width` pixels.
float sum_lines(const float* in, int64_t line, int64_t lines, int64_t width);

}  // namespace hewn::kernels
