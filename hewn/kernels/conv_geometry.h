#pragma once

#include <cstdint>

namespace hewn::kernels {

/// Where a convolution's weights meet its input.
struct ConvGeometry {
  int64_t kernel_height = 1;
  int64_t kernel_width = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;

  int64_t taps() const { return kernel_height * kernel_width; }
  /// Whether an output pixel sees the input pixel at its own place alone.
  bool is_pointwise() const { return taps() == 1 && stride == 1 && padding == 0; }
  int64_t out_size(int64_t in, int64_t kernel) const {
    return (in + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  }

  bool operator==(const ConvGeometry&) const = default;
};

}  // namespace hewn::kernels
