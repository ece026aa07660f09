#pragma once

#include <ATen/core/Tensor.h>

#include "hewn/kernels/conv_geometry.h"

namespace hewn::deploy {

/// A convolution with stride 2 over few channels, such as the first of a network of images, as one with
/// stride 1 over squares of 2 x 2 pixels: four times as many channels, which matrix instructions want.
class PairedConv {
 public:
  /// Whether it can be had so.
  static bool takes(const at::Tensor& weight, const kernels::ConvGeometry& geometry);

  PairedConv(const at::Tensor& weight, const kernels::ConvGeometry& geometry);

  /// Images of even height and width as those squares, zeros around them: what a convolution with weight()
  /// reads, without strides and padding.
  at::Tensor squares(const at::Tensor& images) const;
  const at::Tensor& weight() const { return weight_; }

 private:
  int64_t before_;  // squares of zeros in front of an image
  at::Tensor weight_;
};

}  // namespace hewn::deploy
