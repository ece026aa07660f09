#pragma once

#include <cstdint>

#include "hewn/core/share.h"
#include "hewn/flow/tensor.h"

namespace hewn::flow {

/// How a value lies in memory channel by channel: a row for each, with the pixels of all images of the batch.
/// An image's lines are `line` apart and images `plane` apart, which may leave room between them: either
/// images lie one behind the other, or their first lines do, then their second ones, and so on. Tokens and
/// samples without pixels are images of one pixel. Row-major memory is described likewise.
struct Planes {
  int64_t channels = 0;
  int64_t images = 0;
  int64_t height = 1;
  int64_t width = 1;
  int64_t line = 1;
  int64_t plane = 1;
  int64_t lead = 0;    // room before the first pixel of a row
  int64_t stride = 1;  // from one row to the next

  /// From the first pixel of a row to behind its last one.
  int64_t columns() const { return images == 0 ? 0 : (images - 1) * plane + (height - 1) * line + width; }
  int64_t floats() const { return channels * stride; }
  /// Whether the lines of all images lie side by side.
  bool by_lines() const { return images > 1 && plane < line; }
  bool operator==(const Planes&) const = default;
};

/// Planes of so many channels whose taps reach no further than `reach` floats from a pixel.
Planes planes_of(int64_t channels, int64_t images, int64_t height, int64_t width, int64_t line, int64_t plane,
                 int64_t reach);

/// Zeros in everything of the channels [begin, end) that is not a pixel. `base` is where the first row
/// begins, with its lead.
void clear_border(const Planes& planes, float* base, int64_t begin, int64_t end);
/// The same for rows of words, with `word` in place of zeros.
void fill_border(const Planes& planes, uint32_t* base, uint32_t word, Range rows);

/// An image's lines in memory: what copies read and write. `first` is pixel (0, 0) of channel 0 of image 0.
struct Lines {
  float* first = nullptr;
  int64_t channel = 0;  // floats from one to the next
  int64_t image = 0;
  int64_t line = 0;
};
Lines lines_of(const Planes& planes, float* base);
/// Of images x channels x height x width, row-major.
Lines lines_of_plain(const Planes& planes, float* base);

/// Copies the pixels of the channels [begin, end).
void copy_lines(const Planes& shape, const Lines& from, const Lines& to, int64_t begin, int64_t end);

/// Row-major samples (columns x channels) to rows of channels, and back, for the columns [begin, end).
void to_rows(const float* samples, int64_t channels, int64_t stride, float* rows, int64_t begin, int64_t end);
void from_rows(const float* rows, int64_t channels, int64_t stride, float* samples, int64_t begin,
               int64_t end);

}  // namespace hewn::flow
