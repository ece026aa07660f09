#pragma once

#include <vector>

#include "hewn/flow/op/operator.h"

namespace hewn::flow {

/// How a window moves over one dimension of an image.
struct Slide {
  int64_t in = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;  // padding
  int64_t after = 0;
  int64_t out = 1;

  /// Where the window of an output begins; below 0 in the padding.
  int64_t start(int64_t output) const { return output * stride - before; }
  /// Taps [first, last) of an output's window that lie inside the image.
  int64_t first_tap(int64_t output) const;
  int64_t last_tap(int64_t output) const;
  /// Outputs [first, last) whose tap lies inside the image.
  int64_t first_output(int64_t tap) const;
  int64_t last_output(int64_t tap) const;
};

/// The node's attributes strides, dilations, pads, auto_pad and ceil_mode for a kernel of `kernel` over the
/// first input [n, c, height, width] or [n, c, width]. Always two: the first stands still where there is no
/// height. Throws for other dimensions.
struct Window {
  Slide high;
  Slide wide;
};
Window window_of(const Call& call, const std::vector<int64_t>& kernel);
/// The attribute kernel_shape.
std::vector<int64_t> kernel_shape(const Call& call);
/// [n, channels] and what the window leaves of the rest.
Dims dims_after(const Call& call, const Window& window, int64_t channels);

}  // namespace hewn::flow
