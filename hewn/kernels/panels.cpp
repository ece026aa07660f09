#include "hewn/kernels/panels.h"

#include <algorithm>

namespace hewn::kernels {
namespace {

/// Rows of a panel that a piece of a sample goes to: `features` floats that lie side by side in the sample
/// become rows `row_step` apart.
struct Strip {
  int64_t features;
  int64_t row_step = 1;
};

/// to[feature * row_step][c] = from[c][feature] for `count` samples; columns behind them become zero.
void pack_strip(const Strip& strip, const float* from, int64_t sample_stride, int64_t count, int64_t columns,
                float* to) {
  const int64_t row = strip.row_step * columns;
  int64_t c = 0;
  for (; c + kColumnStep <= count; c += kColumnStep) {
    machine().pack_eight(from + c * sample_stride, sample_stride, to + c, row, strip.features);
  }
  for (; c < columns; ++c) {
    for (int64_t j = 0; j < strip.features; ++j)
      to[j * row + c] = c < count ? from[c * sample_stride + j] : 0.0F;
  }
}

void unpack_strip(const Strip& strip, const float* from, int64_t sample_stride, int64_t count,
                  int64_t columns, float* to) {
  const int64_t row = strip.row_step * columns;
  int64_t c = 0;
  for (; c + kColumnStep <= count; c += kColumnStep) {
    machine().unpack_eight(from + c, row, to + c * sample_stride, sample_stride, strip.features);
  }
  for (; c < count; ++c) {
    for (int64_t j = 0; j < strip.features; ++j) to[c * sample_stride + j] = from[j * row + c];
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

/// Calls body(strip, position in a sample, first row of the panel) for every piece of an image that lies side
/// by side in memory: the channels of a pixel, or the pixels of a channel's line.
template <class Body>
void each_strip(const ImageShape& image, bool channels_last, const Body& body) {
  for (int64_t y = 0; y < image.height; ++y) {
    if (channels_last) {
      for (int64_t x = 0; x < image.width; ++x) {
        body(Strip{image.channels}, (y * image.width + x) * image.channels, image.row(y, x));
      }
    } else {
      for (int64_t c = 0; c < image.channels; ++c) {
        body(Strip{image.width, image.channels}, (c * image.height + y) * image.width, image.row(y, 0) + c);
      }
    }
  }
}

}  // namespace

void pack_panels(const PanelShape& shape, const float* samples, float* panels, int64_t begin, int64_t end) {
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * shape.width;
    pack_strip({shape.rows}, samples + first * shape.rows, shape.rows,
               std::min(shape.width, shape.batch - first), shape.columns(p), panels + shape.offset(p));
  }
}

void unpack_panels(const PanelShape& shape, const float* panels, float* samples, int64_t begin, int64_t end) {
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * shape.width;
    unpack_strip({shape.rows}, panels + shape.offset(p), shape.rows,
                 std::min(shape.width, shape.batch - first), shape.columns(p), samples + first * shape.rows);
  }
}

void pack_images(const PanelShape& shape, const ImageShape& image, bool channels_last, const float* samples,
                 float* panels, int64_t begin, int64_t end) {
  const int64_t sample = image.channels * image.height * image.width;
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * shape.width;
    const int64_t columns = shape.columns(p);
    float* panel = panels + shape.offset(p);
    clear_border(image, columns, panel);
    each_strip(image, channels_last, [&](const Strip& strip, int64_t position, int64_t row) {
      pack_strip(strip, samples + first * sample + position, sample,
                 std::min(shape.width, shape.batch - first), columns, panel + row * columns);
    });
  }
}

void unpack_images(const PanelShape& shape, const ImageShape& image, bool channels_last, const float* panels,
                   float* samples, int64_t begin, int64_t end) {
  const int64_t sample = image.channels * image.height * image.width;
  for (int64_t p = begin; p < end; ++p) {
    const int64_t first = p * shape.width;
    const int64_t columns = shape.columns(p);
    const float* panel = panels + shape.offset(p);
    each_strip(image, channels_last, [&](const Strip& strip, int64_t position, int64_t row) {
      unpack_strip(strip, panel + row * columns, sample, std::min(shape.width, shape.batch - first), columns,
                   samples + first * sample + position);
    });
  }
}

void pack_image(const ImageShape& image, const float* sample, float* column) {
  each_strip(image, false, [&](const Strip& strip, int64_t position, int64_t row) {
    for (int64_t x = 0; x < strip.features; ++x) column[row + x * strip.row_step] = sample[position + x];
  });
}

void unpack_image(const ImageShape& image, const float* column, float* sample) {
  each_strip(image, false, [&](const Strip& strip, int64_t position, int64_t row) {
    for (int64_t x = 0; x < strip.features; ++x) sample[position + x] = column[row + x * strip.row_step];
  });
}

}  // namespace hewn::kernels
