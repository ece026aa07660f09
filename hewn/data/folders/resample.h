#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hewn::data {

/// Where the outputs of one axis lie on the input: output i covers [begin + i * step, begin + (i + 1) *
/// step). Only inputs in [low, high) are read, as if the image ended there.
struct ResampleSpan {
  double begin = 0;
  double step = 1;
  int64_t low = 0;
  int64_t high = 0;
  int64_t outputs = 0;
  bool mirror = false;  // the last output first
};

/// Output i of an axis is the sum over t < taps of weight[i * taps + t] * input[first[i] + t].
struct ResampleAxis {
  int64_t low = 0;
  int64_t high = 0;
  int64_t taps = 0;
  std::vector<int64_t> first;
  std::vector<float> weight;

  int64_t outputs() const { return static_cast<int64_t>(first.size()); }
};

/// Bilinear weights, widened by the step where it is above 1 so that nothing is skipped (Pillow's and
/// torchvision's antialias). The object may be one to use again.
void make_axis(const ResampleSpan& span, ResampleAxis& axis);

/// So many bytes behind the end of an input are read, though not used.
constexpr int64_t kResamplePadding = 64;

/// Floats of scratch memory that resample() needs.
int64_t resample_scratch(const ResampleAxis& columns);

/// RGB bytes, three a pixel, to RGB bytes: rows first, then columns, without rounding between. `input` is
/// where both axes are 0; only pixels inside of their bounds are used.
void resample(const uint8_t* input, int64_t stride, const ResampleAxis& rows, const ResampleAxis& columns,
              float* scratch, uint8_t* out);

/// The part of resample() that computes; resample() copies where nothing has to be computed.
void resample_rows(const uint8_t* input, int64_t stride, const ResampleAxis& rows,
                   const ResampleAxis& columns, float* scratch, uint8_t* out);

}  // namespace hewn::data
