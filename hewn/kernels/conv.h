#pragma once

#include <cstdint>
#include <vector>

#include "hewn/kernels/multiply.h"

namespace hewn::kernels {

/// A convolution's two images in panels, with the borders that its forward pass and its gradients need.
struct ConvShape {
  ConvGeometry geometry;
  ImageShape in;
  ImageShape out;

  /// Borders may be wider than asked for here, where another layer needs more.
  static ConvShape of(const ConvGeometry& geometry, int64_t in_channels, int64_t height, int64_t width,
                      int64_t out_channels);
  /// The border of the output gradient that the input gradient needs.
  int64_t gradient_border() const;
};

/// One position per output pixel, for multiply() with Packed::conv.
std::vector<Position> conv_positions(const ConvShape& shape);

/// The input gradient as products: one per phase of the stride.
struct InputGradient {
  Packed weight;
  std::vector<Position> positions;
};
std::vector<InputGradient> conv_input_gradient(const BsrPattern& pattern, const ConvShape& shape);

/// The weight gradient at the kept blocks, image by image. Scratch belongs to the caller, so that threads can
/// share it: pack some images in ranges, then add their products in ranges of output blocks.
class ConvWeightGradient {
 public:
  ConvWeightGradient(const BsrPattern& pattern, const ConvShape& shape);

  /// Images whose scratch fits the L2 cache.
  int64_t images_at_once() const { return images_; }
  int64_t scratch_floats() const { return x_floats_ + dy_floats_; }

  /// Copies images [begin, end) of a group of `count`: x and dy are the group's first sample, in NCHW or
  /// channels-last memory.
  void pack(const float* x, const float* dy, bool channels_last, int64_t count, int64_t begin, int64_t end,
            float* scratch) const;
  /// Adds the group's products for the output blocks [begin, end); overwrites where not `accumulate`.
  void add(const float* scratch, int64_t count, bool accumulate, float* grad, int64_t begin,
           int64_t end) const;

 private:
  BsrPattern pattern_;
  ConvShape shape_;
  int64_t line_;           // pixels of a padded input line, a multiple of the stride
  int64_t lines_;          // of a padded input image
  int64_t channel_block_;  // channels that lie side by side
  int64_t channel_size_;   // the same, padded
  int64_t images_;
  int64_t x_floats_;
  int64_t dy_floats_;
};

}  // namespace hewn::kernels
