#include "hewn/measure/conv.h"

#include <ATen/Parallel.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <memory>

#include "hewn/core/error.h"
#include "hewn/measure/kept_weight.h"
#include "hewn/measure/panel_run.h"

namespace hewn::measure {

using kernels::ImageShape;
using kernels::PanelShape;

/// Images in panels.
struct PanelImages {
  PanelShape shape;
  ImageShape image;
  std::vector<float> panels;

  PanelImages(int64_t batch, const ImageShape& extents)
      : shape{batch, extents.rows()}, image(extents), panels(static_cast<size_t>(shape.floats())) {}

  void pack(const float* samples) {
    at::parallel_for(0, shape.panels(), 1, [&](int64_t begin, int64_t end) {
      kernels::pack_images(shape, image, false, samples, panels.data(), begin, end);
    });
  }
  void unpack(float* samples) const {
    at::parallel_for(0, shape.panels(), 1, [&](int64_t begin, int64_t end) {
      kernels::unpack_images(shape, image, false, panels.data(), samples, begin, end);
    });
  }
  at::Tensor samples() const {
    const at::Tensor out = at::empty({shape.batch, image.channels, image.height, image.width});
    unpack(out.data_ptr<float>());
    return out;
  }
};

namespace {

/// Pixels that share a pass over the weight: some of a line, or all of it.
std::vector<std::pair<std::string, int64_t>> pixel_groups(int64_t pixels, int64_t line) {
  std::vector<std::pair<std::string, int64_t>> groups;
  const auto add = [&](int64_t count) {
    groups.emplace_back(str("panels, ", count, " pixels at once"), count);
  };
  if (pixels > 0) {
    add(pixels);
    return groups;
  }
  for (const int64_t count : {4, 8, 16}) {
    if (count < line) add(count);
  }
  groups.emplace_back("panels, a line at once", line);
  return groups;
}

}  // namespace

void check_shape(const Conv2dShape& shape) {
  const kernels::ConvGeometry& g = shape.geometry;
  for (const auto& [key, value] : {std::pair{"batch", shape.batch},
                                   {"in", shape.in},
                                   {"out", shape.out},
                                   {"size", std::min(shape.height, shape.width)},
                                   {"kernel", std::min(g.kernel_height, g.kernel_width)},
                                   {"stride", g.stride}}) {
    if (value < 1) throw Error(str(key, ": expected at least 1, got ", value));
  }
  if (g.padding < 0) throw Error(str("padding: expected 0 or more, got ", g.padding));
  if (g.dilation * (g.kernel_height - 1) >= shape.height + 2 * g.padding ||
      g.dilation * (g.kernel_width - 1) >= shape.width + 2 * g.padding) {
    throw Error(str("kernel: ", g.kernel_height, "x", g.kernel_width, " is larger than the padded image, ",
                    shape.height + 2 * g.padding, "x", shape.width + 2 * g.padding));
  }
}

Conv2d::Conv2d(const Conv2dShape& shape, uint64_t seed, int64_t pixels)
    : shape_(shape),
      images_(kernels::ConvShape::of(shape.geometry, shape.in, shape.height, shape.width, shape.out)),
      seed_(seed),
      pixels_(pixels),
      x_(random_tensor({shape.batch, shape.in, shape.height, shape.width}, seed, 0)),
      weight_(random_tensor({shape.out, shape.in, shape.geometry.kernel_height, shape.geometry.kernel_width},
                            seed, 2)),
      in_panels_(std::make_shared<PanelImages>(shape.batch, images_.in)),
      out_panels_(std::make_shared<PanelImages>(shape.batch, images_.out)) {
  in_panels_->pack(x_.data_ptr<float>());
}

Grid Conv2d::grid() const {
  const int64_t rows = shape_.in * shape_.geometry.taps();
  return {rows, shape_.out, {rows, shape_.out}};
}

at::Tensor Conv2d::grad_output() const {
  return random_tensor({shape_.batch, shape_.out, images_.out.height, images_.out.width}, seed_, 1);
}

SparseWays Conv2d::sparse(Product product, const Point& point) const {
  switch (product) {
    case Product::kForward:
      return sparse_forward(point);
    case Product::kGradInput:
      return sparse_grad_input(point);
    default:
      return sparse_grad_weight(point);
  }
}

SparseWays Conv2d::sparse_forward(const Point& point) const {
  const kernels::ConvGeometry& g = shape_.geometry;
  struct State {
    KeptWeight kept;
    kernels::Packed packed;
    std::vector<kernels::Position> positions;
    std::shared_ptr<PanelImages> in, out;

    void multiply(int64_t group) const {
      const PanelRun run{&packed, in->shape, out->shape, positions, group};
      run.multiply(in->panels.data(), out->panels.data());
    }
  };
  KeptWeight kept(weight_, point, seed_);
  kernels::Packed packed = kernels::Packed::conv(kept.pattern, g, images_.in);
  packed.fill(kept.values.data());
  const auto state = std::make_shared<State>(
      State{std::move(kept), std::move(packed), kernels::conv_positions(images_), in_panels_, out_panels_});
  SparseWays ways = state->kept.ways();
  ways.weight_bytes = state->packed.bytes();
  const at::Tensor expected =
      at::conv2d(some_samples(x_), state->kept.masked, {}, g.stride, g.padding, g.dilation);
  const auto groups = pixel_groups(pixels_, images_.out.width);
  for (const auto& [name, pixels] : groups) {
    std::fill(state->out->panels.begin(), state->out->panels.end(), 0.0F);
    state->multiply(pixels);
    check_close("convolution, " + name, some_samples(state->out->samples()), expected);
    ways.panels.push_back({name, [state, group = pixels] { state->multiply(group); }});
  }
  ways.row_major = {{"NCHW", [state, x = x_, y = state->out->samples(), group = groups[0].second] {
                       state->in->pack(x.data_ptr<float>());
                       state->multiply(group);
                       state->out->unpack(y.data_ptr<float>());
                     }}};
  return ways;
}

SparseWays Conv2d::sparse_grad_input(const Point& point) const {
  const kernels::ConvGeometry& g = shape_.geometry;
  kernels::ConvShape images = images_;
  images.out.border = images.gradient_border();
  images.in.border = 0;
  struct State {
    KeptWeight kept;
    std::vector<kernels::InputGradient> phases;
    PanelImages dy, dx;

    void run(int64_t group) {
      for (kernels::InputGradient& phase : phases) {
        fill_packed(phase.weight, kept.values.data());
        PanelRun{&phase.weight, dy.shape, dx.shape, phase.positions, group}.multiply(dy.panels.data(),
                                                                                     dx.panels.data());
      }
    }
  };
  KeptWeight kept(weight_, point, seed_);
  auto phases = kernels::conv_input_gradient(kept.pattern, images);
  const auto state = std::make_shared<State>(
      State{std::move(kept), std::move(phases), {shape_.batch, images.out}, {shape_.batch, images.in}});
  const at::Tensor dy = grad_output();
  state->dy.pack(dy.data_ptr<float>());
  SparseWays ways = state->kept.ways();
  for (const kernels::InputGradient& phase : state->phases) ways.weight_bytes += phase.weight.bytes();
  const at::Tensor expected = std::get<0>(
      at::convolution_backward(some_samples(dy), some_samples(x_), state->kept.masked, {}, g.stride,
                               g.padding, g.dilation, false, {0, 0}, 1, {true, false, false}));
  for (const auto& [name, pixels] : pixel_groups(pixels_, shape_.width)) {
    state->run(pixels);
    check_close("convolution's input gradient, " + name, some_samples(state->dx.samples()), expected);
    ways.panels.push_back({name, [state, group = pixels] { state->run(group); }});
  }
  return ways;
}

SparseWays Conv2d::sparse_grad_weight(const Point& point) const {
  const kernels::ConvGeometry& g = shape_.geometry;
  struct State {
    KeptWeight kept;
    kernels::ConvWeightGradient gradient;
    std::vector<float> scratch, grad;

    void run(const at::Tensor& x, const at::Tensor& dy, bool channels_last) {
      const int64_t batch = x.size(0);
      for (int64_t n = 0; n < batch; n += gradient.images_at_once()) {
        const int64_t count = std::min(gradient.images_at_once(), batch - n);
        const float* xs = x.data_ptr<float>() + n * (x.numel() / batch);
        const float* dys = dy.data_ptr<float>() + n * (dy.numel() / batch);
        at::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
          gradient.pack(xs, dys, channels_last, count, begin, end, scratch.data());
        });
        at::parallel_for(0, kept.pattern.grid.col_blocks(), 1, [&](int64_t begin, int64_t end) {
          gradient.add(scratch.data(), count, n > 0, grad.data(), begin, end);
        });
      }
    }
  };
  KeptWeight kept(weight_, point, seed_);
  kernels::ConvWeightGradient gradient(kept.pattern, images_);
  const auto state = std::make_shared<State>(State{std::move(kept), std::move(gradient), {}, {}});
  state->scratch.resize(static_cast<size_t>(state->gradient.scratch_floats()));
  state->grad.resize(static_cast<size_t>(state->kept.pattern.value_floats()));
  const at::Tensor dy = grad_output();
  std::vector<float> expected = state->kept.blocks_of(
      std::get<1>(at::convolution_backward(dy, x_, weight_, {}, g.stride, g.padding, g.dilation, false,
                                           {0, 0}, 1, {false, true, false}))
          .contiguous());
  SparseWays ways = state->kept.ways();
  ways.weight_bytes = 4 * state->kept.pattern.value_floats();
  const auto floats = static_cast<int64_t>(expected.size());
  for (const bool last : {false, true}) {
    const auto order = last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    const auto run = [state, last, x = x_.contiguous(order), to = dy.contiguous(order)] {
      state->run(x, to, last);
    };
    run();
    check_close("convolution's weight gradient", at::from_blob(state->grad.data(), {floats}),
                at::from_blob(expected.data(), {floats}));
    ways.panels.push_back({last ? "channels last" : "NCHW", run});
  }
  return ways;
}

}  // namespace hewn::measure
