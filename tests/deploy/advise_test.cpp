#include "hewn/deploy/advise.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace hewn::deploy
