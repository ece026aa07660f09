#pragma once

#include <cstdint>

#include "hewn/kernels/packed.h"

/// A convolution and its gradients by definition: what the products of conv.h must add up to. Dense weights
/// (out x in x height x width), NCHW images, sums in double precision.
namespace hewn::kernels::reference {

struct Conv {
  ConvGeometry geometry;
  int64_t batch, in, height, width, out;

  int64_t out_height() const { return geometry.out_size(height, geometry.kernel_height); }
  int64_t out_width() const { return geometry.out_size(width, geometry.kernel_width); }
};
void conv(const Conv& conv, const float* x, const float* w, const float* bias, float* y);
void conv_grad_input(const Conv& conv, const float* dy, const float* w, float* dx);
void conv_grad_weight(const Conv& conv, const float* dy, const float* x, float* dw);

}  // namespace hewn::kernels::reference
