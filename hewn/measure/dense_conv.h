#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/convolution_backward.h>

#include "hewn/kernels/packed.h"

namespace hewn::measure {

/// LibTorch's convolution; `bias` may be undefined.
inline at::Tensor dense_conv(const at::Tensor& x, const at::Tensor& weight, const kernels::ConvGeometry& g,
                             const at::Tensor& bias = {}) {
  return at::conv2d(x, weight, bias, g.stride, g.padding, g.dilation);
}

/// Its gradient, of the input or of the weight.
inline at::Tensor dense_conv_gradient(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                                      const kernels::ConvGeometry& g, bool of_input) {
  const auto [dx, dw, db] = at::convolution_backward(dy, x, weight, {}, g.stride, g.padding, g.dilation,
                                                     false, {0, 0}, 1, {of_input, !of_input, false});
  return of_input ? dx : dw;
}

}  // namespace hewn::measure
