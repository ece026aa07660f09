#include "hewn/deploy/advise.h"

#include <gtest/gtest.h>

#include "hewn/deploy/layer_costs.h"

namespace hewn::deploy {
namespace {

TEST(Advise, BreakEvenOfALine) {
  const auto settings = [](double start, double slope) {
    std::vector<Trial> out;
    for (const double sparsity : {0.5, 0.8, 0.9})
      out.push_back({{}, sparsity, start + slope * (1 - sparsity), 1});
    return out;
  };
  EXPECT_NEAR(line_break_even(settings(0, 20), 10).value(), 0.5, 1e-9);
  EXPECT_NEAR(line_break_even(settings(2, 10), 10).value(), 0.2, 1e-9);
  EXPECT_EQ(line_break_even(settings(0, 5), 10), 0.0);
  EXPECT_EQ(line_break_even(settings(11, 5), 10), std::nullopt);
}

TEST(Advise, SkipsLayersWithFewBlocksAndCountsEqualOnesTogether) {
  const auto model = nn::find_model("mlp").make({{1, 8, 8}, 10}, {{64, 64}, 64});
  AdviceOptions options = AdviceOptions::quick();
  options.blocks = {4, 8, 128};
  const Advice advice = advise(*model, {1, 8, 8}, options);
  ASSERT_EQ(advice.layers.size(), 2U);  // 64 -> 64 twice, 64 -> 10
  EXPECT_EQ(advice.layers[0].names, (std::vector<std::string>{"fc1", "fc2"}));
  EXPECT_NEAR(advice.dense_ms, 2 * advice.layers[0].dense_ms + advice.layers[1].dense_ms, 1e-9);
  EXPECT_EQ(advice.blocks[0].layers_pruned, 2);
  EXPECT_EQ(advice.blocks[1].layers_skipped.size(), 3U);
  ASSERT_EQ(advice.trials.size(), 6U);
  for (size_t i = 2; i < 6; ++i) EXPECT_NEAR(advice.trials[i].speedup, 1, 1e-9);
  EXPECT_FALSE(advice.sentence.empty());
}

TEST(Advise, TimesThatCannotBeComparedHaveTheReasonInsteadOfSpeedUps) {
  Advice advice;
  advice.trials = {{{8, 8}, 0.9, 1, 57.7}};
  EXPECT_EQ(to_json(advice)["settings"][0]["speedup"], 57.7);
  advice.withheld = "other programs held the processors";
  const Json json = to_json(advice);
  EXPECT_TRUE(json["settings"][0]["speedup"].is_null());
  EXPECT_EQ(json["withheld"], advice.withheld);
}

TEST(LayerCosts, AreAStraightLineThatNeverFalls) {
  const auto line = [](double a, double b, double c) { return fit_costs({{10, a}, {20, b}, {50, c}}); };
  EXPECT_NEAR(line(3, 4, 7).fixed, 2, 1e-9);
  EXPECT_NEAR(line(3, 4, 7).each, 0.1, 1e-9);
  EXPECT_EQ(line(0.1, 1, 4).fixed, 0);  // would begin below zero
  EXPECT_GT(line(0.1, 1, 4).each, 0);
  EXPECT_NEAR(line(4, 4, 4).fixed, 4, 1e-9);
  EXPECT_NEAR(line(5, 4, 3).fixed, 4, 1e-9);
  EXPECT_GT(line(5, 4, 3).each, 0);
  EXPECT_LT(50 * line(5, 4, 3).each, 0.1);
  EXPECT_EQ(fit_costs({{1, 3}, {1, 5}}).each, 4);
}

TEST(LayerCosts, AreMeasuredOfEveryLayer) {
  const auto model = nn::find_model("mlp").make({{1, 8, 8}, 10}, {{64, 64}, 64});
  AdviceOptions options = AdviceOptions::quick();
  options.batch = 4;
  const MeasuredCosts measured = measure_costs(*model, {1, 8, 8}, {16, 16}, options);
  const run::Costs read = run::parse_costs(run::to_json(measured.costs).dump(), "file");
  ASSERT_EQ(read.layers.size(), 3U);
  EXPECT_EQ(read.layers[0].name, "fc1");
  EXPECT_EQ(read.layers[0].blocks, 16);
  EXPECT_EQ(read.layers[1].dense_ms, read.layers[0].dense_ms);  // of the same shape
  // Smaller than a block: in equal parts what the whole layer takes.
  EXPECT_EQ(read.layers[2].blocks, 4);
  EXPECT_NEAR(read.layers[2].block_ms, read.layers[2].dense_ms / 4, 1e-12);
  for (const prune::LayerTimes& layer : read.layers) {
    EXPECT_GE(layer.fixed_ms, 0);
    EXPECT_EQ(layer.positions, 1);
  }
}

}  // namespace
}  // namespace hewn::deploy
