#include "hewn/measure/compare.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "hewn/core/error.h"
#include "hewn/measure/conv.h"
#include "hewn/measure/kept_weight.h"
#include "hewn/measure/linear.h"
#include "hewn/measure/panel_run.h"
#include "hewn/measure/pattern.h"

namespace hewn::measure {
namespace {

TEST(Pattern, KeepsExactlyAsManyBlocksAsAsked) {
  const Grid grid{70, 50, {8, 4}};
  for (const int64_t keep : {int64_t{0}, int64_t{1}, int64_t{17}, grid.blocks()}) {
    const std::vector<uint8_t> support = random_support(grid, keep, 3);
    EXPECT_EQ(std::accumulate(support.begin(), support.end(), int64_t{0}), keep);
  }
  EXPECT_NE(random_support(grid, 17, 3), random_support(grid, 17, 4));
  EXPECT_EQ(random_pattern(grid, 0.75, 1).kept(), blocks_to_keep(grid.blocks(), 0.75));
  EXPECT_DOUBLE_EQ(density(random_pattern(grid, 0, 1)), 1);  // ragged edges count what they hold
}

TEST(KeptWeight, AWrongResultIsRefused) {
  const at::Tensor weight = random_tensor({50, 70}, 1, 0);
  const KeptWeight kept(weight, {{8, 4}, 0.5}, 1);
  std::vector<float> grad = kept.values;
  kept.check_gradient("gradient", grad, weight);
  grad.back() += 0.01F;
  EXPECT_THROW(kept.check_gradient("gradient", grad, weight), Error);

  at::Tensor batch = weight.clone();
  check_samples("samples", batch, some_samples(weight));
  batch[49][3] += 0.01;  // the last sample is among those looked at
  EXPECT_THROW(check_samples("samples", batch, some_samples(weight)), Error);
}

TEST(PanelRun, RangesCoverAllTilesAndKeepSharedOutputsTogether) {
  const kernels::Packed packed = kernels::Packed::linear(random_pattern({4500, 100, {16, 16}}, 0.5, 1));
  for (const int64_t parts : {1, 2, 3, 100}) {
    const std::vector<int64_t> ranges = tile_ranges(packed, parts);
    EXPECT_EQ(ranges.front(), 0);
    EXPECT_EQ(ranges.back(), packed.tile_count());
    EXPECT_TRUE(std::is_sorted(ranges.begin(), ranges.end()));
    EXPECT_LE(ranges.size(), static_cast<size_t>(parts) + 1);
    for (size_t i = 0; i + 1 < ranges.size(); ++i) {
      EXPECT_FALSE(packed.tiles()[static_cast<size_t>(ranges[i])].accumulate);
    }
  }
}

/// Layers check their own results against LibTorch's, so running them is the test.
void expect_consistent(const Layer& layer, const Point& point) {
  for (const Product product : {Product::kForward, Product::kGradInput, Product::kGradWeight}) {
    const Comparison c = compare(layer, product, point, 2);
    EXPECT_GT(c.dense.ms, 0);
    EXPECT_GT(c.sparse.ms, 0);
    EXPECT_EQ(c.row_major.has_value(), product == Product::kForward);
    EXPECT_EQ(c.kept_blocks, blocks_to_keep(c.blocks, point.sparsity));
    for (const Candidate& candidate : c.dense_candidates) {
      EXPECT_TRUE(!candidate.missing.empty() || candidate.ms >= c.dense.ms) << candidate.name;
    }
  }
}

class Threads : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { at::set_num_threads(GetParam()); }
  void TearDown() override { at::set_num_threads(1); }
};
INSTANTIATE_TEST_SUITE_P(OneAndMore, Threads, testing::Values(1, 3));

TEST_P(Threads, LinearLayers) {
  expect_consistent(Linear({100, 70, 50}, 0), {{8, 4}, 0.7});
  expect_consistent(Linear({1, 64, 64}, 0), {{16, 16}, 0.5});
}

TEST_P(Threads, ConvolutionLayers) {
  expect_consistent(Conv2d({5, 16, 24, 9, 7, {3, 3, 1, 1, 1}}, 0), {{8, 8}, 0.7});
  expect_consistent(Conv2d({30, 8, 16, 6, 20, {1, 1, 2, 0, 1}}, 0), {{4, 4}, 0.5});
}

TEST(Compare, AContenderThatCannotRunIsNamedWithItsReason) {
  const Runnable out = runnable({{"good", [] {}}, {"bad", [] { throw Error("no such thing\nbacktrace"); }}});
  ASSERT_EQ(out.contenders.size(), 1U);
  ASSERT_EQ(out.missing.size(), 1U);
  EXPECT_EQ(out.missing[0].name, "bad");
  EXPECT_EQ(out.missing[0].missing, "no such thing");
}

TEST(Compare, RoundsAreRepeatedWhileTheyTellNothingAndThenTheRatioIsWithheld) {
  const auto spin = [](int64_t times) {
    volatile double sum = 0;
    for (int64_t i = 0; i < times; ++i) sum = sum + 1.0 / static_cast<double>(i + 1);
  };
  int64_t call = 0;
  SparseWays sparse;
  sparse.panels = {{"sparse", [&] { spin(20000); }}};
  const std::vector<Contender> dense = {{"dense", [&] { spin(++call % 2 == 0 ? 20000 : 2000000); }}};
  const Comparison restless = compare(sparse, dense, {4, Clock::kThreadCpu, 0, 0, false});
  EXPECT_EQ(restless.steadiness.rounds, 4 * kMostTurns);
  EXPECT_FALSE(restless.steadiness.steady());
  const Json json = to_json(restless);
  EXPECT_TRUE(json["speedup"].is_null());
  EXPECT_TRUE(json["fraction_of_ideal"].is_null());
  EXPECT_EQ(json["withheld"], restless.steadiness.withheld);
}

TEST(Compare, ASpeedUpBeyondFewerProductsHasAWord) {
  Comparison c;
  c.density = 0.1;
  c.sparse.ms = 1;
  c.dense.ms = 10.4;
  EXPECT_EQ(c.beyond_products(), "");
  EXPECT_FALSE(to_json(c).contains("beyond_products"));
  c.dense.ms = 11;
  EXPECT_TRUE(c.beyond_products().starts_with("more than the 10x that fewer products can give: "))
      << to_json(c);
  EXPECT_EQ(to_json(c)["beyond_products"], c.beyond_products());
  c.steadiness.withheld = "noise";
  EXPECT_EQ(c.beyond_products(), "");
}

TEST(Compare, BreakEvenLiesWhereTheLinesCross) {
  EXPECT_EQ(break_even([](double) { return 0.9; }), 0);
  EXPECT_EQ(break_even([](double) { return 1.1; }), std::nullopt);
  // 1.5 times as long as dense at no sparsity, falling with the density.
  EXPECT_NEAR(break_even([](double sparsity) { return 1.5 * (1 - sparsity); }).value(), 1.0 / 3, 1e-12);
}

}  // namespace
}  // namespace hewn::measure
