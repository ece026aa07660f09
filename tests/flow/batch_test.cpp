// Batches that run in pieces, weights that know their blocks, and sums over what is still read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hewn/core/random.h"
#include "hewn/flow/composer.h"
#include "hewn/flow/evaluate.h"
#include "hewn/flow/network.h"
#include "hewn/flow/weights.h"

namespace hewn::flow {
namespace {

using List = std::vector<int64_t>;

Tensor noise(Dims dims, uint64_t seed) {
  Tensor out(Spec{Type::kFloat, std::move(dims)});
  auto values = out.values<float>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(unit(draw(seed, Stream::kInit, 0, i)[0]) - 0.5);
  return out;
}

void expect_near(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.spec(), expected.spec());
  float size = 1e-3F;
  for (const float x : expected.values<float>()) size = std::max(size, std::abs(x));
  for (size_t i = 0; i < static_cast<size_t>(got.elements()); ++i)
    ASSERT_NEAR(got.values<float>()[i], expected.values<float>()[i], 1e-5F * size) << i;
}

int32_t conv(Composer& to, const std::string& name, int32_t x, Tensor weight) {
  const int64_t pad = weight.dims()[2] / 2;
  return to.node("Conv", name, {x, to.constant(name + ".w", std::move(weight))},
                 {{"pads", List(4, pad)}, {"kernel_shape", List{2 * pad + 1, 2 * pad + 1}}});
}

// The product still reads what is added to it.
TEST(Batch, SumsOfANodeAndItsOwnInput) {
  for (const int64_t kernel : {1, 3}) {
    Composer to;
    const Spec image{Type::kFloat, {-1, 8, 9, 9}};
    const int32_t x = to.node("Relu", "first", {conv(to, "a", to.input("x", image), noise({8, 8, 1, 1}, 1))});
    const int32_t y = to.node("Add", "sum", {x, conv(to, "b", x, noise({8, 8, kernel, kernel}, 2))});
    const Graph graph = to.finish(y, "y", image);
    const Tensor input = noise({3, 8, 9, 9}, 3);
    expect_near(Network(graph).run({input})[0], evaluate(graph, {input})[0]);
  }
  Composer to;
  const Spec tokens{Type::kFloat, {-1, 5, 24}};
  const int32_t in = to.input("x", tokens);
  const int32_t x = to.node("MatMul", "a", {in, to.constant("wa", noise({24, 24}, 4))});
  const int32_t product = to.node("MatMul", "b", {x, to.constant("wb", noise({24, 24}, 5))});
  const int32_t biased = to.node("Add", "biased", {product, to.constant("bias", noise({24}, 6))});
  const Graph graph = to.finish(to.node("Add", "sum", {biased, x}), "y", tokens);
  const Tensor input = noise({2, 5, 24}, 7);
  expect_near(Network(graph).run({input})[0], evaluate(graph, {input})[0]);
}

/// Channels of zeros around what is left of every second pixel, beside a strided convolution.
Graph shortcut_graph(int64_t size) {
  Composer to;
  const int32_t x = to.input("x", {Type::kFloat, {-1, 16, size, size}});
  const int32_t half =
      to.node("Slice", "half", {x, to.list({0, 0}), to.list({size, size}), to.list({2, 3}), to.list({2, 2})});
  const int32_t wide = to.node("Pad", "wide", {half, to.list({0, 8, 0, 0, 0, 8, 0, 0})});
  const int32_t main = to.node("Conv", "conv", {x, to.constant("w", noise({32, 16, 3, 3}, 1))},
                               {{"strides", List{2, 2}}, {"pads", List(4, 1)}});
  const int32_t y = to.node("Relu", "relu", {to.node("Add", "sum", {main, wide})});
  const int32_t mean = to.node("GlobalAveragePool", "pool", {y});
  return to.finish(to.node("Flatten", "flat", {mean}), "y", {Type::kFloat, {-1, 32}});
}

// Small images with many outputs, and taps further apart than the image is wide: taps read planes of their
// own.
TEST(Batch, TapsThatReadPlanesOfTheirOwn) {
  struct Case {
    int64_t channels, outputs, kernel, dilation, height, width, groups;
  };
  for (const Case& one :
       {Case{3, 400, 3, 1, 2, 2, 1}, Case{5, 700, 3, 1, 7, 3, 1}, Case{6, 240, 3, 6, 5, 5, 1},
        Case{4, 400, 3, 12, 3, 9, 1}, Case{8, 256, 5, 4, 6, 5, 2}, Case{2, 300, 5, 2, 3, 4, 1}}) {
    for (const int64_t batch : {1, 2, 5}) {
      SCOPED_TRACE(testing::Message()
                   << one.outputs << " outputs, dilation " << one.dilation << ", batch " << batch);
      Composer to;
      const int64_t pad = (one.kernel - 1) / 2 * one.dilation;
      const Dims image{-1, one.channels, one.height, one.width};
      const int32_t x = to.input("x", {Type::kFloat, image});
      const int32_t w =
          to.constant("w", noise({one.outputs, one.channels / one.groups, one.kernel, one.kernel}, 1));
      const int32_t y = to.node("Conv", "conv", {x, w},
                                {{"pads", List(4, pad)},
                                 {"dilations", List(2, one.dilation)},
                                 {"group", one.groups},
                                 {"kernel_shape", List(2, one.kernel)}});
      // What comes next shares its planes, and needs room between lines.
      const int32_t wide = to.node("Relu", "relu", {y});
      const int32_t z = conv(to, "next", wide, noise({7, one.outputs, 3, 3}, 2));
      const Graph graph = to.finish(z, "y", {Type::kFloat, {-1, 7, one.height, one.width}});
      const Tensor input = noise({batch, one.channels, one.height, one.width}, 3);
      Network network(graph);
      const Tensor got = network.run({input})[0];
      expect_near(got, evaluate(graph, {input})[0]);
      network.set_threads(3);
      const Tensor again = network.run({input})[0];
      EXPECT_TRUE(
          std::equal(got.values<float>().begin(), got.values<float>().end(), again.values<float>().begin()));
    }
  }
}

TEST(Batch, PiecesAndTheRestGiveWhatTheWholeGives) {
  const Graph graph = shortcut_graph(40);
  Network network(graph);
  for (const int64_t batch : {13, 2, 47, 1, 47}) {
    SCOPED_TRACE(batch);
    const Tensor input = noise({batch, 16, 40, 40}, 5);
    network.set_threads(1);
    const Tensor one = network.run({input})[0];
    expect_near(one, evaluate(graph, {input})[0]);
    for (const int threads : {2, 3, 5}) {
      network.set_threads(threads);
      const Tensor several = network.run({input})[0];
      EXPECT_TRUE(
          std::equal(one.values<float>().begin(), one.values<float>().end(), several.values<float>().begin()))
          << threads << " threads";
    }
  }
}

// Twenty thousand samples of 16384 numbers would be more than a tensor may have.
TEST(Batch, ActivationsOfAllSamplesMayBeMoreThanATensor) {
  Composer to;
  const int64_t width = 16384;
  const int32_t x = to.input("x", {Type::kFloat, {-1, 3}});
  const int32_t wide = to.node("MatMul", "a", {x, to.constant("wa", noise({3, width}, 1))});
  const int32_t y =
      to.node("MatMul", "b", {to.node("Relu", "r", {wide}), to.constant("wb", noise({width, 2}, 2))});
  Network network(to.finish(y, "y", {Type::kFloat, {-1, 2}}));
  const int64_t batch = 20000;
  ASSERT_THROW(count({batch, width}), TooLarge);
  const Tensor input = noise({batch, 3}, 3);
  const Tensor all = network.run({input})[0];
  for (const int64_t first : {int64_t{0}, int64_t{11111}, batch - 8}) {
    Tensor few(Spec{Type::kFloat, {8, 3}});
    std::copy_n(input.values<float>().begin() + 3 * first, 24, few.values<float>().begin());
    Tensor there(Spec{Type::kFloat, {8, 2}});
    std::copy_n(all.values<float>().begin() + 2 * first, 16, there.values<float>().begin());
    expect_near(there, network.run({few})[0]);
  }
  EXPECT_THROW(network.run({noise({batch, 4}, 3)}), Error);
}

TEST(Batch, WeightsThatKnowTheirBlocksAreAsThoseThatDoNot) {
  struct Case {
    Dims dims;
    BlockShape block;
    double density;
  };
  const std::vector<Case> cases = {{{40, 24, 3, 3}, {16, 16}, 0.2}, {{33, 7, 3, 3}, {8, 4}, 0.3},
                                   {{64, 64, 1, 1}, {4, 16}, 0.1},  {{20, 20, 1, 1}, {5, 5}, 1},
                                   {{16, 16, 1, 1}, {16, 16}, 0},   {{48, 32, 1, 1}, {1, 1}, 0.2}};
  for (const Case& one : cases) {
    SCOPED_TRACE(to_string(one.dims) + ", block " + to_string(one.block));
    const int64_t taps = one.dims[2] * one.dims[3];
    const Grid grid{taps * one.dims[1], one.dims[0], one.block};
    std::vector<uint8_t> support(static_cast<size_t>(grid.blocks()));
    for (size_t i = 0; i < support.size(); ++i)
      support[i] = unit(draw(3, Stream::kPattern, 0, i)[0]) < one.density ? 1 : 0;
    KeptWeight kept{kernels::make_pattern(grid, support.data()), {}, taps};
    kept.values.assign(static_cast<size_t>(kept.pattern.value_floats()), 0.0F);
    const Tensor whole = noise(one.dims, 4);
    kernels::gather_blocks(kept.pattern, {grid, taps}, whole.values<float>().data(), nullptr,
                           kept.values.data(), 0, grid.col_blocks());
    Tensor dense(whole.spec());
    kernels::scatter_blocks(kept.pattern, {grid, taps}, kept.values.data(), dense.values<float>().data(), 0,
                            grid.col_blocks());
    const Tensor knowing({Type::kFloat, one.dims}, kept);
    EXPECT_FALSE(knowing.whole());
    EXPECT_TRUE(std::equal(dense.values<float>().begin(), dense.values<float>().end(),
                           knowing.values<float>().begin()));
    EXPECT_TRUE(knowing.whole());
    EXPECT_EQ(knowing.shaped({dense.elements()}).kept(), nullptr);
    const Tensor input = noise({2, one.dims[1], 9, 9}, 6);
    const auto run = [&](const Tensor& weight) {
      Composer to;
      const int32_t y = conv(to, "a", to.input("x", {Type::kFloat, {-1, one.dims[1], 9, 9}}), weight);
      const Graph graph = to.finish(y, "y", {Type::kFloat, {-1, one.dims[0], 9, 9}});
      return std::pair(Network(graph).run({input})[0], evaluate(graph, {input})[0]);
    };
    expect_near(run(Tensor({Type::kFloat, one.dims}, kept)).first, run(dense).second);
    if (one.density < 0.5) {
      const BlockChoice choice = choose_blocks(knowing, WeightKind::kConv, 1, 0);
      EXPECT_EQ(choice.block, one.block.cols);
      EXPECT_EQ(pack_weight(knowing, WeightKind::kConv, 1, 0)->density, choice.density);
      const Tensor only_blocks({Type::kFloat, one.dims}, kept);
      Composer to;
      const int32_t y = conv(to, "a", to.input("x", {Type::kFloat, {-1, one.dims[1], 9, 9}}), only_blocks);
      Network(to.finish(y, "y", {Type::kFloat, {-1, one.dims[0], 9, 9}})).run({input});
      EXPECT_FALSE(only_blocks.whole());
    }
  }
  EXPECT_THROW(
      Tensor({Type::kFloat, {3, 3}}, KeptWeight{kernels::make_pattern({3, 4, {1, 1}}, nullptr), {}, 1}),
      std::exception);
}

}  // namespace
}  // namespace hewn::flow
