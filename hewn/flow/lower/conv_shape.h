#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "hewn/flow/builder.h"
#include "hewn/flow/op/window/window.h"
#include "hewn/kernels/planes/plane_runs.h"

namespace hewn::flow {

/// Which taps of a window that moves pixel by pixel read planes of their own: the input, moved by the tap,
/// with zeros where it ends. Then there need be no room between lines and images.
enum class Apart { kNothing, kColumns, kAll };

/// A convolution as a window over planes.
struct ConvShape {
  Window window;
  int64_t groups = 1;
  int64_t channels = 0;  // of a group
  int64_t outputs = 0;
  Apart apart = Apart::kNothing;

  bool strided() const { return window.high.stride != 1 || window.wide.stride != 1; }
  /// Whether it reads sorted planes.
  bool sorts() const { return strided() || apart != Apart::kNothing; }
  bool depthwise() const { return channels == 1 && outputs == groups; }
  /// Taps so far from each other, in lines and in pixels, read the same sorted planes.
  int64_t lines_between() const;
  int64_t pixels_between() const;
  /// How far the window reaches beyond the pixel that it begins at.
  int64_t reach() const { return std::max(reach_of_lines(), reach_of_pixels()); }
  int64_t reach_of_lines() const;
  int64_t reach_of_pixels() const;
};
ConvShape conv_shape(const Builder& builder, const Node& node);

/// Where the taps of a window that moves pixel by pixel find their inputs.
std::vector<int64_t> plain_taps(const ConvShape& shape, const Planes& in);

/// A tap's place in sorted planes: by the phases of a stride, or by taps.
struct SortedTaps {
  std::vector<int64_t> offsets;
  std::vector<std::pair<int64_t, int64_t>> phases;
};
SortedTaps sorted_taps(const ConvShape& shape, const Planes& sorted, int64_t channels);
/// Columns of an output up to `last`, behind those of the strip before, for which taps outside the range read
/// nothing but padding.
struct Strip {
  int64_t last = 0;
  kernels::TapRange needed;
};
/// All of them: one for everything where little padding would be left out.
std::vector<Strip> strips_of(const ConvShape& shape, const Planes& out);
/// Planes of one phase of the input, in which the window moves pixel by pixel to the places of the output.
Planes sorted_planes(const ConvShape& shape, const Planes& in, const Planes& out);

/// How one channel is sorted: images and lines of the input are so far apart.
struct SortShape {
  Window window;
  Planes in;
  Planes sorted;
  int64_t image = 0;
  int64_t line = 0;
};

/// Sorts the pixels of one channel, or one row of words, for one phase; `between` is what is no pixel.
template <class T>
void sort_channel(const SortShape& shape, const std::pair<int64_t, int64_t>& phase, const T* first_pixel,
                  T* row, T between) {
  const auto [high, wide] = shape.window;
  const Planes& sorted = shape.sorted;
  std::fill_n(row, sorted.stride, between);
  for (int64_t n = 0; n < shape.in.images; ++n) {
    for (int64_t v = 0; v < sorted.height; ++v) {
      const int64_t y = v * high.stride + phase.first - high.before;
      if (y < 0 || y >= shape.in.height) continue;
      const T* line = first_pixel + n * shape.image + y * shape.line;
      T* to = row + sorted.lead + n * sorted.plane + v * sorted.line;
      const int64_t shift = phase.second - wide.before;
      const int64_t first = shift >= 0 ? 0 : (-shift + wide.stride - 1) / wide.stride;
      const int64_t last = std::min(sorted.width, (shape.in.width - shift + wide.stride - 1) / wide.stride);
      const T* pixel = line + first * wide.stride + shift;
      if (wide.stride == 2) {
        for (int64_t u = first; u < last; ++u, pixel += 2) to[u] = *pixel;
      } else {
        for (int64_t u = first; u < last; ++u, pixel += wide.stride) to[u] = *pixel;
      }
    }
  }
}

}  // namespace hewn::flow
