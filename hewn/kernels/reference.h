#pragma once

#include <cstdint>

#include "hewn/kernels/packed.h"

/// The slow twins of the block-sparse products: dense weights, plain loops, sums in double precision, as the
/// formulas are written. Samples are row-major; images NCHW; weights out x in (x height x width).
namespace hewn::kernels::reference {

/// y[m][n] = sum over k of x[m][k] * w[n][k], plus bias[n] where not null.
void linear(int64_t batch, int64_t in, int64_t out, const float* x, const float* w, const float* bias,
            float* y);
/// dx[m][k] = sum over n of dy[m][n] * w[n][k].
void linear_grad_input(int64_t batch, int64_t in, int64_t out, const float* dy, const float* w, float* dx);
/// dw[n][k] = sum over m of dy[m][n] * x[m][k].
void linear_grad_weight(int64_t batch, int64_t in, int64_t out, const float* dy, const float* x, float* dw);

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
