#include "hewn/measure/prepared.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/mkldnn_reorder_conv2d_weight.h>

namespace hewn::measure {
namespace {

at::Tensor reordered(const at::Tensor& weight, int64_t stride, int64_t padding, int64_t dilation) {
  // Two numbers each: this function does not spread one over both directions, as others do.
  return at::mkldnn_reorder_conv2d_weight(weight.to_mkldnn(), {padding, padding}, {stride, stride},
                                          {dilation, dilation}, 1);
}

}  // namespace

Prepared one_dnn_plain(const at::Tensor& tensor) {
  return Prepared([tensor] { return tensor.to_mkldnn(); });
}

Prepared one_dnn_images(const at::Tensor& images) {
  return Prepared([images] {
    const int64_t channels = images.size(1);
    const at::Tensor identity = at::eye(channels).view({channels, channels, 1, 1});
    return at::conv2d(images.to_mkldnn(), reordered(identity, 1, 0, 1));
  });
}

Prepared one_dnn_filter(const at::Tensor& weight, int64_t stride, int64_t padding, int64_t dilation) {
  return Prepared([=] { return reordered(weight, stride, padding, dilation); });
}

}  // namespace hewn::measure
