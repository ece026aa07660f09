#pragma once

#include <cstdint>

#include "hewn/kernels/tile.h"

namespace hewn::kernels {

/// Activations with the batch innermost: `rows` features for each of `batch` samples, cut along the batch
/// into panels of panel_width columns. A panel is [rows][columns]; the last one has as many columns as are
/// left, rounded up to kColumnStep and filled with zeros.
struct PanelShape {
  int64_t batch = 0;
  int64_t rows = 0;
  int64_t width = machine().panel_width;

  int64_t panels() const { return (batch + width - 1) / width; }
  int64_t columns(int64_t panel) const {
    const int64_t left = batch - panel * width;
    return left >= width ? width : (left + kColumnStep - 1) / kColumnStep * kColumnStep;
  }
  /// Where a panel starts.
  int64_t offset(int64_t panel) const { return panel * width * rows; }
  int64_t floats() const {
    return (batch / width * width + (batch % width + kColumnStep - 1) / kColumnStep * kColumnStep) * rows;
  }
};

/// An image in a panel: rows in (y, x, channel) order with a border of zeros around it, so that a convolution
/// finds its neighbours without asking where the edge is.
struct ImageShape {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t border = 0;

  int64_t rows() const { return (height + 2 * border) * (width + 2 * border) * channels; }
  /// The row of channel 0 of pixel (y, x); negative coordinates reach into the border.
  int64_t row(int64_t y, int64_t x) const {
    return ((y + border) * (width + 2 * border) + x + border) * channels;
  }

  bool operator==(const ImageShape&) const = default;
};

/// Row-major samples (batch x rows) into the panels [begin, end), and back.
void pack_panels(const PanelShape& shape, const float* samples, float* panels, int64_t begin, int64_t end);
void unpack_panels(const PanelShape& shape, const float* panels, float* samples, int64_t begin, int64_t end);

/// The same for images: samples are batch x channels x height x width in memory (NCHW), or batch x height x
/// width x channels with `channels_last`. The border is set to zero when packing.
void pack_images(const PanelShape& shape, const ImageShape& image, bool channels_last, const float* samples,
                 float* panels, int64_t begin, int64_t end);
void unpack_images(const PanelShape& shape, const ImageShape& image, bool channels_last, const float* panels,
                   float* samples, int64_t begin, int64_t end);

/// One image (channels x height x width in memory) as a panel of a single column, and back. The border is
/// left as it is.
void pack_image(const ImageShape& image, const float* sample, float* column);
void unpack_image(const ImageShape& image, const float* column, float* sample);

}  // namespace hewn::kernels
