#include "hewn/nn/sparse_conv.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include "hewn/core/error.h"
#include "hewn/nn/held.h"

namespace hewn::nn {
namespace {

using kernels::ConvShape;
using kernels::ImageShape;
using kernels::Packed;
using kernels::PanelShape;
using kernels::Position;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Pixels that share the weights of a tile while these are in the L1 cache.
constexpr int64_t kPixels = 8;

bool is_channels_last(const at::Tensor& images) {
  return !images.is_contiguous() && images.is_contiguous(at::MemoryFormat::ChannelsLast);
}

/// In one of the two memory orders, copied where it is in neither.
at::Tensor dense_order(const at::Tensor& images) {
  return is_channels_last(images) ? images : images.contiguous();
}

at::Tensor empty_images(const at::Tensor& like, const ImageShape& image, bool channels_last) {
  return at::empty({like.size(0), image.channels, image.height, image.width}, like.options(),
                   channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
}

at::Tensor pack(const PanelShape& shape, const ImageShape& image, const at::Tensor& images) {
  at::Tensor panels = at::empty({shape.floats()}, images.options());
  const bool last = is_channels_last(images);
  at::parallel_for(0, shape.panels(), 1, [&](int64_t begin, int64_t end) {
    kernels::pack_images(shape, image, last, images.data_ptr<float>(), panels.data_ptr<float>(), begin, end);
  });
  return panels;
}

void unpack(const PanelShape& shape, const ImageShape& image, const at::Tensor& panels,
            const at::Tensor& images) {
  const bool last = is_channels_last(images);
  at::parallel_for(0, shape.panels(), 1, [&](int64_t begin, int64_t end) {
    kernels::unpack_images(shape, image, last, panels.data_ptr<float>(), images.data_ptr<float>(), begin,
                           end);
  });
}

/// One product at many positions of all panels, on all threads.
void multiply_positions(const Packed& weight, const PanelShape& in, const PanelShape& out,
                        const at::Tensor& from, const at::Tensor& to, const std::vector<Position>& positions,
                        const float* bias) {
  const auto count = static_cast<int64_t>(positions.size());
  const int64_t groups = (count + kPixels - 1) / kPixels;
  at::parallel_for(0, in.panels() * groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t p = i / groups;
      const int64_t first = i % groups * kPixels;
      const std::span<const Position> some(positions.data() + first,
                                           static_cast<size_t>(std::min(kPixels, count - first)));
      kernels::multiply(weight, from.data_ptr<float>() + in.offset(p), to.data_ptr<float>() + out.offset(p),
                        in.columns(p), some, {bias, nullptr, false}, 0, weight.tile_count());
    }
  });
}

struct RunConv : torch::autograd::Function<RunConv> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                            const TorchOptional<at::Tensor>& gate, const TorchOptional<at::Tensor>& bias,
                            const std::shared_ptr<SparseConv>& layer) {
    const at::Tensor values = layer->weight().values();
    context->saved_data["layer"] = hold(layer);
    context->saved_data["has_bias"] = bias.has_value();
    context->save_for_backward({x, values, gate.value_or(at::Tensor())});
    return layer->product(x, values, bias.value_or(at::Tensor()));
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const auto layer = held<SparseConv>(context->saved_data["layer"]);
    const at::Tensor& x = saved[0];
    const at::Tensor dy = grads[0].contiguous(is_channels_last(x) ? at::MemoryFormat::ChannelsLast
                                                                  : at::MemoryFormat::Contiguous);
    const at::Tensor dx = context->needs_input_grad(0) ? layer->grad_input(x, dy, saved[1]) : at::Tensor();
    const at::Tensor grad_gate = layer->take_gradient(layer->grad_weight(x, dy), saved[2]);
    const at::Tensor grad_bias = context->saved_data["has_bias"].toBool() ? dy.sum({0, 2, 3}) : at::Tensor();
    return {dx, grad_gate, grad_bias, at::Tensor()};
  }
};

}  // namespace

SparseConv::SparseConv(std::shared_ptr<prune::SparseWeight> weight, const kernels::ConvGeometry& geometry)
    : weight_(std::move(weight)), geometry_(geometry) {}

ConvShape SparseConv::shape_for(const at::Tensor& x) const {
  const Grid& grid = weight_->pattern().grid;
  return ConvShape::of(geometry_, grid.rows / geometry_.taps(), x.size(2), x.size(3), grid.cols);
}

at::Tensor SparseConv::forward(const std::shared_ptr<SparseConv>& layer, const at::Tensor& x,
                               const at::Tensor& bias) {
  const int64_t channels = layer->weight().pattern().grid.rows / layer->geometry_.taps();
  if (x.dim() != 4 || x.size(1) != channels) {
    throw Error(hewn::str("convolution: expected images of ", channels, " channels, got ", x.sizes()));
  }
  return RunConv::apply(dense_order(x), optional_of(layer->weight().gate), optional_of(bias), layer);
}

at::Tensor SparseConv::product(const at::Tensor& x, const at::Tensor& values, const at::Tensor& bias) {
  const ConvShape shape = shape_for(x);
  if (!forward_ || forward_in_ != shape.in) {
    forward_ = Packed::conv(weight_->pattern(), geometry_, shape.in);
    forward_in_ = shape.in;
  }
  fill(*forward_, values);
  const PanelShape in{x.size(0), shape.in.rows()};
  const PanelShape out{x.size(0), shape.out.rows()};
  const at::Tensor out_panels = at::empty({out.floats()}, x.options());
  multiply_positions(*forward_, in, out, pack(in, shape.in, x), out_panels, kernels::conv_positions(shape),
                     tensor::data_or_null<float>(bias));
  at::Tensor y = empty_images(x, shape.out, is_channels_last(x));
  unpack(out, shape.out, out_panels, y);
  return y;
}

at::Tensor SparseConv::grad_input(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& values) {
  ConvShape shape = shape_for(x);
  shape.in.border = 0;
  shape.out.border = shape.gradient_border();
  if (backward_.empty() || backward_in_ != shape.in) {
    backward_ = kernels::conv_input_gradient(weight_->pattern(), shape);
    backward_in_ = shape.in;
  }
  const PanelShape in{x.size(0), shape.in.rows()};
  const PanelShape out{x.size(0), shape.out.rows()};
  const at::Tensor dy_panels = pack(out, shape.out, dy);
  const at::Tensor dx_panels = at::empty({in.floats()}, x.options());
  for (kernels::InputGradient& phase : backward_) {
    fill(phase.weight, values);
    multiply_positions(phase.weight, out, in, dy_panels, dx_panels, phase.positions, nullptr);
  }
  at::Tensor dx = at::empty_like(x);
  unpack(in, shape.in, dx_panels, dx);
  return dx;
}

at::Tensor SparseConv::grad_weight(const at::Tensor& x, const at::Tensor& dy) const {
  const kernels::BsrPattern& pattern = weight_->pattern();
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

at::Tensor SparseConv::take_gradient(const at::Tensor& grad_values, const at::Tensor& gate) {
  return weight_->backward(grad_values, gate);
}

}  // namespace hewn::nn
