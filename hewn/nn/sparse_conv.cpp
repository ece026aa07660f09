#include "hewn/nn/sparse_conv.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <span>

#include "hewn/core/error.h"
#include "hewn/tensor/memory.h"

namespace hewn::nn {
namespace {

using kernels::ConvShape;
using kernels::ImageShape;
using kernels::Packed;
using kernels::PanelShape;
using kernels::Position;

// Pixels that share the weights of a tile while these are in the L1 cache.
constexpr int64_t kPixels = 8;

/// In one of the two memory orders, copied where it is in neither.
at::Tensor dense_order(const at::Tensor& images) {
  return is_channels_last(images) ? images : images.contiguous();
}

at::Tensor empty_images(const at::Tensor& like, const ImageShape& image, bool channels_last) {
  return at::empty({like.size(0), image.channels, image.height, image.width}, like.options(),
                   channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
}

/// A batch of images in panels.
struct ImagePanels {
  ImageShape image;
  PanelShape shape;
  at::Tensor floats;

  ImagePanels(const ImageShape& extents, const at::Tensor& like)
      : image(extents),
        shape{like.size(0), extents.rows()},
        floats(at::empty({shape.floats()}, like.options())) {}

  void pack(const at::Tensor& images) const {
    const bool last = is_channels_last(images);
    at::parallel_for(0, shape.panels(), 1, [&](int64_t begin, int64_t end) {
      kernels::pack_images(shape, image, last, images.data_ptr<float>(), floats.data_ptr<float>(), begin,
                           end);
    });
  }

  void unpack(const at::Tensor& images) const {
    const bool last = is_channels_last(images);
    at::parallel_for(0, shape.panels(), 1, [&](int64_t begin, int64_t end) {
      kernels::unpack_images(shape, image, last, floats.data_ptr<float>(), images.data_ptr<float>(), begin,
                             end);
    });
  }
};

/// One product at many positions of all panels, on all threads.
void multiply_at(const std::vector<Position>& positions, const Packed& weight, const ImagePanels& from,
                 const ImagePanels& to, const float* bias) {
  const auto count = static_cast<int64_t>(positions.size());
  const int64_t groups = (count + kPixels - 1) / kPixels;
  at::parallel_for(0, from.shape.panels() * groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t p = i / groups;
      const int64_t first = i % groups * kPixels;
      const std::span<const Position> some(positions.data() + first,
                                           static_cast<size_t>(std::min(kPixels, count - first)));
      kernels::multiply(weight, from.floats.data_ptr<float>() + from.shape.offset(p),
                        to.floats.data_ptr<float>() + to.shape.offset(p), from.shape.columns(p), some,
                        {bias, nullptr, false}, 0, weight.tile_count());
    }
  });
}

}  // namespace

SparseConv::SparseConv(std::shared_ptr<prune::SparseWeight> weight, const kernels::ConvGeometry& geometry)
    : SparseLayer(std::move(weight)), geometry_(geometry) {}

ConvShape SparseConv::shape_for(const at::Tensor& x) const {
  const Grid& grid = weight().pattern().grid;
  return ConvShape::of(geometry_, grid.rows / geometry_.taps(), x.size(2), x.size(3), grid.cols);
}

at::Tensor SparseConv::forward(const at::Tensor& x, const at::Tensor& bias) {
  const int64_t channels = weight().pattern().grid.rows / geometry_.taps();
  if (x.dim() != 4 || x.size(1) != channels) {
    throw Error(hewn::str("convolution: expected images of ", channels, " channels, got ", x.sizes()));
  }
  return differentiable_product(dense_order(x), bias);
}

at::Tensor SparseConv::product(const at::Tensor& x, const at::Tensor& values, const at::Tensor& bias) {
  const ConvShape shape = shape_for(x);
  if (!forward_ || forward_in_ != shape.in) {
    forward_ = Packed::conv(weight().pattern(), geometry_, shape.in);
    forward_in_ = shape.in;
  }
  fill(*forward_, values);
  const ImagePanels in(shape.in, x);
  const ImagePanels out(shape.out, x);
  in.pack(x);
  multiply_at(kernels::conv_positions(shape), *forward_, in, out, tensor::data_or_null<float>(bias));
  at::Tensor y = empty_images(x, shape.out, is_channels_last(x));
  out.unpack(y);
  return y;
}

at::Tensor SparseConv::grad_input(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& values) {
  ConvShape shape = shape_for(x);
  shape.in.border = 0;
  shape.out.border = shape.gradient_border();
  if (backward_.empty() || backward_in_ != shape.in) {
    backward_ = kernels::conv_input_gradient(weight().pattern(), shape);
    backward_in_ = shape.in;
  }
  const ImagePanels in(shape.in, x);
  const ImagePanels out(shape.out, x);
  out.pack(dy);
  for (kernels::InputGradient& part : backward_) {
    fill(part.weight, values);
    multiply_at(part.positions, part.weight, out, in, nullptr);
  }
  at::Tensor dx = at::empty_like(x);
  in.unpack(dx);
  return dx;
}

at::Tensor SparseConv::grad_weight(const at::Tensor& x, const at::Tensor& dy) const {
  const kernels::BsrPattern& pattern = weight().pattern();
  const kernels::ConvWeightGradient gradient(pattern, shape_for(x));
  at::Tensor grad = at::empty({pattern.value_floats()}, x.options());
  const at::Tensor scratch = at::empty({gradient.scratch_floats()}, x.options());
  const bool last = is_channels_last(x);
  const int64_t step = gradient.images_at_once();
  for (int64_t n = 0; n < x.size(0); n += step) {
    const int64_t count = std::min(step, x.size(0) - n);
    const float* x_data = x.data_ptr<float>() + n * x.stride(0);
    const float* dy_data = dy.data_ptr<float>() + n * dy.stride(0);
    at::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
      gradient.pack(x_data, dy_data, last, count, begin, end, scratch.data_ptr<float>());
    });
    at::parallel_for(0, pattern.grid.col_blocks(), 1, [&](int64_t begin, int64_t end) {
      gradient.add(scratch.data_ptr<float>(), count, n > 0, grad.data_ptr<float>(), begin, end);
    });
  }
  return grad;
}

}  // namespace hewn::nn
