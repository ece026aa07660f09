#include "hewn/kernels/reference/panels.h"

namespace hewn::kernels::reference {
namespace {

/// Calls body(sample, columns of its panel, where its column begins) for each sample of the panels, and for
/// the columns that only fill up the last one: they have no sample, -1.
template <class Body>
void each_column(const PanelShape& shape, int64_t begin, int64_t end, const Body& body) {
  for (int64_t p = begin; p < end; ++p) {
    for (int64_t c = 0; c < shape.columns(p); ++c) {
      const int64_t sample = p * shape.width + c;
      body(sample < shape.batch ? sample : -1, shape.columns(p), shape.offset(p) + c);
    }
  }
}

/// Calls body(row in the panel, position in the sample) for each value of an image; -1 in its border.
template <class Body>
void each_pixel(const ImageShape& image, bool channels_last, const Body& body) {
  for (int64_t y = -image.border; y < image.height + image.border; ++y) {
    for (int64_t x = -image.border; x < image.width + image.border; ++x) {
      for (int64_t c = 0; c < image.channels; ++c) {
        const bool inside = y >= 0 && y < image.height && x >= 0 && x < image.width;
        const int64_t position = channels_last ? (y * image.width + x) * image.channels + c
                                               : (c * image.height + y) * image.width + x;
        body(image.row(y, x) + c, inside ? position : -1);
      }
    }
  }
}

int64_t sample_floats(const ImageShape& image) { return image.channels * image.height * image.width; }

}  // namespace

void pack_panels(const PanelShape& shape, const float* samples, float* panels, int64_t begin, int64_t end) {
  each_column(shape, begin, end, [&](int64_t sample, int64_t columns, int64_t first) {
    for (int64_t r = 0; r < shape.rows; ++r) {
      panels[first + r * columns] = sample < 0 ? 0.0F : samples[sample * shape.rows + r];
    }
  });
}

void unpack_panels(const PanelShape& shape, const float* panels, float* samples, int64_t begin, int64_t end) {
  each_column(shape, begin, end, [&](int64_t sample, int64_t columns, int64_t first) {
    for (int64_t r = 0; sample >= 0 && r < shape.rows; ++r) {
      samples[sample * shape.rows + r] = panels[first + r * columns];
    }
  });
}

void pack_images(const PanelShape& shape, const ImageShape& image, bool channels_last, const float* samples,
                 float* panels, int64_t begin, int64_t end) {
  each_column(shape, begin, end, [&](int64_t sample, int64_t columns, int64_t first) {
    each_pixel(image, channels_last, [&](int64_t row, int64_t position) {
      const bool zero = sample < 0 || position < 0;
      panels[first + row * columns] = zero ? 0.0F : samples[sample * sample_floats(image) + position];
    });
  });
}

void unpack_images(const PanelShape& shape, const ImageShape& image, bool channels_last, const float* panels,
                   float* samples, int64_t begin, int64_t end) {
  each_column(shape, begin, end, [&](int64_t sample, int64_t columns, int64_t first) {
    each_pixel(image, channels_last, [&](int64_t row, int64_t position) {
      if (sample < 0 || position < 0) return;
      samples[sample * sample_floats(image) + position] = panels[first + row * columns];
    });
  });
}

void pack_image(const ImageShape& image, const float* sample, float* column) {
  each_pixel(image, false, [&](int64_t row, int64_t position) {
    if (position >= 0) column[row] = sample[position];
  });
}

void unpack_image(const ImageShape& image, const float* column, float* sample) {
  each_pixel(image, false, [&](int64_t row, int64_t position) {
    if (position >= 0) sample[position] = column[row];
  });
}

}  // namespace hewn::kernels::reference
