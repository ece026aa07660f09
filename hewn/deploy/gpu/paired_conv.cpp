#include "hewn/deploy/gpu/paired_conv.h"

#include <ATen/ops/zeros.h>

namespace hewn::deploy {
namespace {

constexpr int64_t kFewChannels = 4;
constexpr int64_t kWholeChannels = 8;  // channels come in multiples of 16 bytes

int64_t paired_channels(int64_t channels) {
  return (4 * channels + kWholeChannels - 1) / kWholeChannels * kWholeChannels;
}

/// Taps of zeros before the first, so that it meets the first pixel of a square.
int64_t leading(const kernels::ConvGeometry& g) { return g.padding % 2; }

/// Squares that a kernel covers in a row.
int64_t paired_taps(const kernels::ConvGeometry& g) { return (g.kernel_height + leading(g) + 1) / 2; }

}  // namespace

bool PairedConv::takes(const at::Tensor& weight, const kernels::ConvGeometry& g) {
  return weight.size(1) <= kFewChannels && g.stride == 2 && g.dilation == 1 &&
         g.kernel_height == g.kernel_width && 2 * g.padding + 1 == g.kernel_height;
}

PairedConv::PairedConv(const at::Tensor& weight, const kernels::ConvGeometry& g)
    : before_((g.padding + leading(g)) / 2) {
  const int64_t outputs = weight.size(0);
  const int64_t channels = weight.size(1);
  const int64_t taps = paired_taps(g);
  const at::Tensor even = at::zeros({outputs, channels, 2 * taps, 2 * taps}, weight.options());
  even.narrow(2, leading(g), g.kernel_height).narrow(3, leading(g), g.kernel_width).copy_(weight);
  at::Tensor paired = at::zeros({outputs, paired_channels(channels), taps, taps}, weight.options());
  // Of a square: row, column, channel.
  paired.narrow(1, 0, 4 * channels)
      .copy_(even.view({outputs, channels, taps, 2, taps, 2})
                 .permute({0, 3, 5, 1, 2, 4})
                 .reshape({outputs, 4 * channels, taps, taps}));
  weight_ = paired.contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor PairedConv::squares(const at::Tensor& images) const {
  const int64_t count = images.size(0);
  const int64_t channels = images.size(1);
  const int64_t height = images.size(2) / 2;
  const int64_t width = images.size(3) / 2;
  const int64_t more = weight_.size(2) - 1;
  const at::Tensor out = at::zeros({count, height + more, width + more, weight_.size(1)}, images.options());
  out.narrow(1, before_, height)
      .narrow(2, before_, width)
      .narrow(3, 0, 4 * channels)
      .unflatten(3, {2, 2, channels})
      .copy_(images.permute({0, 2, 3, 1})
                 .unflatten(2, {width, 2})
                 .unflatten(1, {height, 2})
                 .permute({0, 1, 3, 2, 4, 5}));
  return out.permute({0, 3, 1, 2});
}

}  // namespace hewn::deploy
