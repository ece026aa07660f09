#include "hewn/kernels/conv.h"

#include <gtest/gtest.h>

#include "hewn/kernels/reference/conv.h"
#include "tests/support/numbers.h"

namespace hewn::kernels {
namespace {

struct Case {
  reference::Conv conv;
  BlockShape block;
  Pattern pattern;

  Grid grid() const { return {conv.in * conv.geometry.taps(), conv.out, block}; }
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  const ConvGeometry& g = c.conv.geometry;
  return out << c.conv.batch << "x" << c.conv.in << "x" << c.conv.height << "x" << c.conv.width << " -> "
             << c.conv.out << " kernel " << g.kernel_height << "x" << g.kernel_width << " stride " << g.stride
             << " padding " << g.padding << " dilation " << g.dilation << " block " << to_string(c.block)
             << " pattern " << static_cast<int>(c.pattern);
}

std::vector<Case> cases() {
  std::vector<Case> out;
  const std::vector<reference::Conv> convs = {
      {{1, 1, 1, 0, 1}, 1, 1, 1, 1, 1},   {{3, 3, 1, 1, 1}, 3, 8, 6, 5, 12},
      {{3, 3, 2, 1, 1}, 9, 6, 7, 8, 10},  {{1, 1, 2, 0, 1}, 2, 16, 6, 6, 8},
      {{3, 3, 1, 2, 2}, 2, 4, 7, 9, 6},   {{7, 7, 2, 3, 1}, 2, 3, 13, 11, 9},
      {{3, 3, 3, 0, 1}, 2, 4, 10, 11, 5}, {{2, 3, 1, 0, 1}, 40, 5, 4, 5, 18},
      {{1, 1, 3, 0, 1}, 2, 4, 8, 7, 4},   {{3, 3, 2, 2, 2}, 2, 5, 9, 8, 7}};
  for (const reference::Conv& conv : convs) {
    for (const BlockShape& block : {BlockShape{1, 1}, {4, 4}, {5, 3}, {8, 8}, {16, 16}, {40, 12}}) {
      for (const Pattern pattern : {Pattern::kRandom, Pattern::kEmpty, Pattern::kFull, Pattern::kOne}) {
        out.push_back({conv, block, pattern});
      }
    }
  }
  return out;
}

struct Weight {
  BsrPattern pattern;
  std::vector<float> values;
  std::vector<float> dense;

  explicit Weight(const Case& c) : pattern(make_pattern(c.grid(), support_of(c.grid(), c.pattern).data())) {
    const WeightLayout layout{pattern.grid, c.conv.geometry.taps()};
    const std::vector<float> all = numbers(pattern.grid.elements(), 1);
    values.resize(static_cast<size_t>(pattern.value_floats()));
    dense.resize(all.size());
    gather_blocks(pattern, layout, all.data(), nullptr, values.data(), 0, pattern.grid.col_blocks());
    scatter_blocks(pattern, layout, values.data(), dense.data(), 0, pattern.grid.col_blocks());
  }
};

ConvShape shape_of(const reference::Conv& c) {
  return ConvShape::of(c.geometry, c.in, c.height, c.width, c.out);
}

TEST(Conv, EqualsTheReferenceOverAwkwardShapes) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c);
    const Weight weight(c);
    ConvShape shape = shape_of(c.conv);
    shape.in.border += 1;  // wider than needed, as beside another layer
    shape.out.border = 1;
    const std::vector<float> x = numbers(c.conv.batch * c.conv.in * c.conv.height * c.conv.width, 2);
    const std::vector<float> bias = numbers(c.conv.out, 4);
    std::vector<float> y(static_cast<size_t>(c.conv.batch * c.conv.out * shape.out.height * shape.out.width));
    reference::conv(c.conv, x.data(), weight.dense.data(), bias.data(), y.data());

    Packed packed = Packed::conv(weight.pattern, c.conv.geometry, shape.in);
    packed.fill(weight.values.data());
    const PanelShape in{c.conv.batch, shape.in.rows()};
    const PanelShape out{c.conv.batch, shape.out.rows()};
    std::vector<float> in_panels(static_cast<size_t>(in.floats()), 1e30F);
    std::vector<float> out_panels(static_cast<size_t>(out.floats()));
    pack_images(in, shape.in, false, x.data(), in_panels.data(), 0, in.panels());
    for (int64_t p = 0; p < in.panels(); ++p) {
      multiply(packed, in_panels.data() + in.offset(p), out_panels.data() + out.offset(p), in.columns(p),
               conv_positions(shape), {bias.data(), nullptr, false}, 0, packed.tile_count());
    }
    std::vector<float> got(y.size());
    unpack_images(out, shape.out, false, out_panels.data(), got.data(), 0, out.panels());
    ASSERT_LT(largest_difference(got, y), 1e-5);
  }
}

TEST(Conv, OneSampleEqualsTheReference) {
  for (Case c : cases()) {
    c.conv.batch = 1;
    SCOPED_TRACE(testing::Message() << c);
    const Weight weight(c);
    const ConvShape shape = shape_of(c.conv);
    const std::vector<float> x = numbers(c.conv.in * c.conv.height * c.conv.width, 2);
    const std::vector<float> bias = numbers(c.conv.out, 4);
    std::vector<float> y(static_cast<size_t>(c.conv.out * shape.out.height * shape.out.width));
    reference::conv(c.conv, x.data(), weight.dense.data(), bias.data(), y.data());
    for (float& value : y) value = std::max(value, 0.0F);

    Packed packed = Packed::conv(weight.pattern, c.conv.geometry, shape.in);
    packed.fill(weight.values.data());
    std::vector<float> in(static_cast<size_t>(shape.in.rows()));
    std::vector<float> out(static_cast<size_t>(shape.out.rows()));
    pack_image(shape.in, x.data(), in.data());
    multiply(packed, in.data(), out.data(), 1, conv_positions(shape), {bias.data(), nullptr, true}, 0,
             packed.tile_count());
    std::vector<float> got(y.size());
    unpack_image(shape.out, out.data(), got.data());
    ASSERT_LT(largest_difference(got, y), 1e-5);
  }
}

TEST(Conv, InputGradientEqualsTheReference) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c);
    const Weight weight(c);
    ConvShape shape = shape_of(c.conv);
    shape.out.border = shape.gradient_border();
    shape.in.border = 0;
    const std::vector<float> dy = numbers(c.conv.batch * c.conv.out * shape.out.height * shape.out.width, 3);
    std::vector<float> dx(static_cast<size_t>(c.conv.batch * c.conv.in * c.conv.height * c.conv.width));
    reference::conv_grad_input(c.conv, dy.data(), weight.dense.data(), dx.data());

    const PanelShape in{c.conv.batch, shape.in.rows()};
    const PanelShape out{c.conv.batch, shape.out.rows()};
    std::vector<float> out_panels(static_cast<size_t>(out.floats()), 1e30F);
    std::vector<float> in_panels(static_cast<size_t>(in.floats()), 1e30F);
    pack_images(out, shape.out, false, dy.data(), out_panels.data(), 0, out.panels());
    for (InputGradient& phase : conv_input_gradient(weight.pattern, shape)) {
      phase.weight.fill(weight.values.data());
      for (int64_t p = 0; p < in.panels(); ++p) {
        multiply(phase.weight, out_panels.data() + out.offset(p), in_panels.data() + in.offset(p),
                 in.columns(p), phase.positions, {}, 0, phase.weight.tile_count());
      }
    }
    std::vector<float> got(dx.size());
    unpack_images(in, shape.in, false, in_panels.data(), got.data(), 0, in.panels());
    ASSERT_LT(largest_difference(got, dx), 1e-5);
  }
}

/// NCHW to NHWC.
std::vector<float> channels_last(const std::vector<float>& from, int64_t batch, int64_t channels,
                                 int64_t pixels) {
  std::vector<float> to(from.size());
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < pixels; ++i)
        to[static_cast<size_t>((n * pixels + i) * channels + c)] =
            from[static_cast<size_t>((n * channels + c) * pixels + i)];
  return to;
}

TEST(Conv, WeightGradientEqualsTheReferenceAtKeptBlocks) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(testing::Message() << c);
    const Weight weight(c);
    const Grid& grid = weight.pattern.grid;
    const ConvShape shape = shape_of(c.conv);
    const int64_t in_pixels = c.conv.height * c.conv.width;
    const int64_t out_pixels = shape.out.height * shape.out.width;
    const std::vector<float> x = numbers(c.conv.batch * c.conv.in * in_pixels, 2);
    const std::vector<float> dy = numbers(c.conv.batch * c.conv.out * out_pixels, 3);
    std::vector<float> dense(weight.dense.size());
    reference::conv_grad_weight(c.conv, dy.data(), x.data(), dense.data());
    std::vector<float> expected(static_cast<size_t>(weight.pattern.value_floats()));
    gather_blocks(weight.pattern, {grid, c.conv.geometry.taps()}, dense.data(), nullptr, expected.data(), 0,
                  grid.col_blocks());

    const ConvWeightGradient gradient(weight.pattern, shape);
    for (const bool last : {false, true}) {
      const auto xs = last ? channels_last(x, c.conv.batch, c.conv.in, in_pixels) : x;
      const auto dys = last ? channels_last(dy, c.conv.batch, c.conv.out, out_pixels) : dy;
      std::vector<float> scratch(static_cast<size_t>(gradient.scratch_floats()));
      std::vector<float> got(expected.size(), 1e30F);
      const int64_t step = std::min<int64_t>(gradient.images_at_once(), 2);
      for (int64_t n = 0; n < c.conv.batch; n += step) {
        const int64_t count = std::min(step, c.conv.batch - n);
        gradient.pack(xs.data() + n * c.conv.in * in_pixels, dys.data() + n * c.conv.out * out_pixels, last,
                      count, 0, count, scratch.data());
        gradient.add(scratch.data(), count, n > 0, got.data(), 0, grid.col_blocks());
      }
      ASSERT_LT(largest_difference(got, expected), 1e-5);
    }
  }
}

}  // namespace
}  // namespace hewn::kernels
