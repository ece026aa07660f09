#include "hewn/kernels/panels.h"

#include <algorithm>

namespace hewn::kernels {
namespace {

// Samples that are read side by side: one cache line of a panel's row is then written at once.
constexpr int64_t kGroup = 8;

/// to[row * columns + c] = from[c * sample_stride + row * row_stride] for `count` columns; those up to
/// `columns` become zero.
void pack_rows(const float* from, int64_t sample_stride, int64_t row_stride, int64_t rows, int64_t count,
               int64_t columns, float* to) {
  int64_t c = 0;
  for (; c + kGroup <= count; c += kGroup) {
    const float* group = from + c * sample_stride;
    for (int64_t row = 0; row < rows; ++row) {
#pragma GCC unroll 8
      for (int64_t i = 0; i < kGroup; ++i)
        to[row * columns + c + i] = group[i * sample_stride + row * row_stride];
    }
  }
  for (; c < columns; ++c) {
    for (int64_t row = 0; row < rows; ++row) {
      to[row * columns + c] = c < count ? from[c * sample_stride + row * row_stride] : 0.0F;
    }
  }
}

void unpack_rows(const float* from, int64_t sample_stride, int64_t row_stride, int64_t rows, int64_t count,
                 int64_t columns, float* to) {
  for (int64_t c = 0; c < count; ++c) {
    float* sample = to + c * sample_stride;
    for (int64_t row = 0; row < rows; ++row) sample[row * row_stride] = from[row * columns + c];
  }
}

/// Zeroes the rows of an image's border.
void clear_border(const ImageShape& image, int64_t columns, float* panel) {
  const int64_t line = (image.width + 2 * image.border) * image.channels * columns;
  const int64_t side = image.border * image.channels * columns;
  for (int64_t y = 0; y < image.height + 2 * image.border; ++y, panel += line) {
    const bool inside = y >= image.border && y < image.height + image.border;
    std::fill_n(panel, inside ? side : line, 0.0F);
    if (inside) std::fill_n(panel + line - side, side, 0.0F);
  }
}

/// Strides of a batch of images in memory.
struct ImageStrides {
  int64_t sample, channel, x, y;
  ImageStrides(const ImageShape& image, bool channels_last)
      : sample(image.channels * image.height * image.width),
        channel(channels_last ? 1 : image.height * image.width),
        x(channels_last ? image.channels : 1),
        y(x * image.width) {}
};

}  // namespace

void pack_panels(const PanelShape& shape, const float* samples, float* panels, int64_t begin, int64_t end) {
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * shape.width;
    pack_rows(samples + first * shape.rows, shape.rows, 1, shape.rows,
              std::min(shape.width, shape.batch - first), shape.columns(p), panels + shape.offset(p));
  }
}

void unpack_panels(const PanelShape& shape, const float* panels, float* samples, int64_t begin, int64_t end) {
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * shape.width;
    unpack_rows(panels + shape.offset(p), shape.rows, 1, shape.rows,
                std::min(shape.width, shape.batch - first), shape.columns(p), samples + first * shape.rows);
  }
}

void pack_images(const PanelShape& shape, const ImageShape& image, bool channels_last, const float* samples,
                 float* panels, int64_t begin, int64_t end) {
  const ImageStrides strides(image, channels_last);
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * shape.width;
    const int64_t columns = shape.columns(p);
    float* panel = panels + shape.offset(p);
    clear_border(image, columns, panel);
    for (int64_t y = 0; y < image.height; ++y) {
      for (int64_t x = 0; x < image.width; ++x) {
        pack_rows(samples + first * strides.sample + y * strides.y + x * strides.x, strides.sample,
                  strides.channel, image.channels, std::min(shape.width, shape.batch - first), columns,
                  panel + image.row(y, x) * columns);
      }
    }
  }
}

void unpack_images(const PanelShape& shape, const ImageShape& image, bool channels_last, const float* panels,
                   float* samples, int64_t begin, int64_t end) {
  const ImageStrides strides(image, channels_last);
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * shape.width;
    const int64_t columns = shape.columns(p);
    const float* panel = panels + shape.offset(p);
    for (int64_t y = 0; y < image.height; ++y) {
      for (int64_t x = 0; x < image.width; ++x) {
        unpack_rows(panel + image.row(y, x) * columns, strides.sample, strides.channel, image.channels,
                    std::min(shape.width, shape.batch - first), columns,
                    samples + first * strides.sample + y * strides.y + x * strides.x);
      }
    }
  }
}

}  // namespace hewn::kernels
