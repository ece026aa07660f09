#include "hewn/measure/conv.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "hewn/core/error.h"
#include "hewn/measure/dense_conv.h"
#include "hewn/measure/kept_weight.h"
#include "hewn/measure/panel_images.h"
#include "hewn/measure/panel_run.h"
#include "hewn/measure/runtime_layer.h"

namespace hewn::measure {

namespace {

using PixelGroups = std::vector<std::pair<std::string, int64_t>>;

/// Pixels that share a pass over the weight: some of a line, or all of it.
PixelGroups pixel_groups(int64_t pixels, int64_t line) {
  PixelGroups groups;
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

/// A product that writes `out`, with every number of pixels at once: checked, and ready to be timed.
std::vector<Contender> checked(const std::string& what, const PixelGroups& groups,
                               const std::function<void(int64_t pixels)>& run, PanelImages& out,
                               const at::Tensor& expected) {
  std::vector<Contender> contenders;
  for (const auto& [name, pixels] : groups) {
    std::fill(out.panels.begin(), out.panels.end(), 0.0F);
    run(pixels);
    check_samples(str(what, ", ", name), out.samples(), expected);
    contenders.push_back({name, [run, at_once = pixels] { run(at_once); }});
  }
  return contenders;
}

}  // namespace

void check_shape(const Conv2dShape& shape) {
  const kernels::ConvGeometry& g = shape.geometry;
  check_extents({{"batch", shape.batch},
                 {"in", shape.in},
                 {"out", shape.out},
                 {"size", std::min(shape.height, shape.width)},
                 {"kernel", std::min(g.kernel_height, g.kernel_width)},
                 {"stride", g.stride}});
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

SparseWays Conv2d::sparse_forward(const Point& point) const {
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
  kernels::Packed packed = kernels::Packed::conv(kept.pattern, shape_.geometry, images_.in);
  packed.fill(kept.values.data());
  const auto state = std::make_shared<State>(
      State{std::move(kept), std::move(packed), kernels::conv_positions(images_), in_panels_, out_panels_});
  const auto groups = pixel_groups(pixels_, images_.out.width);
  SparseWays ways = state->kept.ways(state->packed.bytes());
  ways.panels = checked(
      "convolution", groups, [state](int64_t pixels) { state->multiply(pixels); }, *state->out,
      dense_conv(some_samples(x_), state->kept.masked, shape_.geometry));
  const RuntimeLayer layer(x_, state->kept, &shape_.geometry);
  check_samples("convolution, runtime", layer.run(),
                dense_conv(some_samples(x_), state->kept.masked, shape_.geometry));
  ways.panels.push_back(layer.on_planes());
  ways.row_major = {layer.row_major(),
                    {"panels, NCHW", [state, x = x_, y = state->out->samples(), group = groups[0].second] {
                       state->in->pack(x.data_ptr<float>());
                       state->multiply(group);
                       state->out->unpack(y.data_ptr<float>());
                     }}};
  return ways;
}

SparseWays Conv2d::sparse_grad_input(const Point& point) const {
  kernels::ConvShape images = images_;
  images.out.border = images.gradient_border();
  images.in.border = 0;
  struct State {
    KeptWeight kept;
    std::vector<kernels::InputGradient> parts;
    PanelImages dy, dx;

    void run(int64_t group) {
      for (kernels::InputGradient& part : parts) {
        fill_packed(part.weight, kept.values.data());
        PanelRun{&part.weight, dy.shape, dx.shape, part.positions, group}.multiply(dy.panels.data(),
                                                                                   dx.panels.data());
      }
    }
  };
  KeptWeight kept(weight_, point, seed_);
  auto parts = kernels::conv_input_gradient(kept.pattern, images);
  const auto state = std::make_shared<State>(
      State{std::move(kept), std::move(parts), {shape_.batch, images.out}, {shape_.batch, images.in}});
  const at::Tensor dy = grad_output();
  state->dy.pack(dy.data_ptr<float>());
  int64_t bytes = 0;
  for (const kernels::InputGradient& part : state->parts) bytes += part.weight.bytes();
  SparseWays ways = state->kept.ways(bytes);
  ways.panels = checked(
      "convolution's input gradient", pixel_groups(pixels_, shape_.width),
      [state](int64_t pixels) { state->run(pixels); }, state->dx,
      dense_conv_gradient(some_samples(dy), some_samples(x_), state->kept.masked, shape_.geometry, true));
  return ways;
}

SparseWays Conv2d::sparse_grad_weight(const Point& point) const {
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
  const at::Tensor expected = dense_conv_gradient(dy, x_, weight_, shape_.geometry, false).contiguous();
  SparseWays ways = state->kept.ways(4 * state->kept.pattern.value_floats());
  for (const bool last : {false, true}) {
    const auto order = last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    const auto run = [state, last, x = x_.contiguous(order), to = dy.contiguous(order)] {
      state->run(x, to, last);
    };
    run();
    state->kept.check_gradient("convolution's weight gradient", state->grad, expected);
    ways.panels.push_back({last ? "channels last" : "NCHW", run});
  }
  return ways;
}

}  // namespace hewn::measure
