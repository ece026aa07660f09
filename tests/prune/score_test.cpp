// Every registered score goes through one contract.
#include "hewn/prune/score/score.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/layer.h"
#include "hewn/prune/recipes.h"
#include "hewn/prune/search/search.h"

namespace hewn::prune {
namespace {

class AnyScore : public testing::TestWithParam<std::string> {};

TEST_P(AnyScore, StartsAsTheUngatedNetworkAndLearns) {
  at::manual_seed(1);
  const at::Tensor original = at::randn({20, 30}, at::kDouble);
  at::Tensor leaf = original.clone();
  const WeightLayout layout = layout_of(leaf, {7, 4});
  const ScoredWeight weight{leaf, layout, 5};
  const auto score = make_score(GetParam(), weight, {});
  leaf.set_requires_grad(true);

  const at::Tensor gate = score->gate(weight);
  const at::Tensor effective = gate.defined() ? block_scale(leaf, gate, {}, layout) : leaf;
  EXPECT_TRUE(at::allclose(effective, original, 1e-12, 1e-14));
  EXPECT_TRUE(!gate.defined() || gate.numel() == layout.grid.blocks());

  const at::Tensor importance = score->importance(weight);
  EXPECT_EQ(importance.numel(), layout.grid.blocks());
  EXPECT_FALSE(importance.requires_grad());
  EXPECT_TRUE(importance.isfinite().all().item<bool>());
  EXPECT_TRUE(at::equal(importance, score->importance(weight)));

  EXPECT_TRUE(!score->level(weight).defined() || score->level(weight).numel() == 1);
  if (score->sees_gradients()) score->see_gradient(weight, effective.detach());
  EXPECT_TRUE(score->importance(weight).isfinite().all().item<bool>());

  effective.square().sum().backward();
  EXPECT_TRUE(leaf.grad().isfinite().all().item<bool>());
  for (const ScoreParameter& parameter : score->parameters()) {
    EXPECT_TRUE(parameter.tensor.is_leaf() && parameter.tensor.requires_grad());
    ASSERT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
    EXPECT_GT(parameter.tensor.grad().abs().sum().item<double>(), 0);
  }
}

TEST_P(AnyScore, SurvivesABlockOfZeros) {
  at::Tensor leaf = at::zeros({8, 8}, at::kDouble);
  leaf.narrow(0, 0, 4).fill_(1);
  const WeightLayout layout = layout_of(leaf, {4, 4});
  const auto score = make_score(GetParam(), {leaf, layout, 1}, {});
  leaf.set_requires_grad(true);
  const at::Tensor gate = score->gate({leaf, layout, 1});
  const at::Tensor effective = gate.defined() ? block_scale(leaf, gate, {}, layout) : leaf * 1;
  (effective.sum() + effective.square().sum()).backward();
  EXPECT_TRUE(leaf.grad().isfinite().all().item<bool>());
  EXPECT_TRUE(score->importance({leaf, layout, 1}).isfinite().all().item<bool>());
  const bool learns = leaf.grad()[7][7].item<double>() != 0;
  EXPECT_EQ(learns, score->learns_from_zero());
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const ScoreRow& row : scores()) out.emplace_back(row.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, AnyScore, testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Score, AttentionIsClampedButRankedByLogits) {
  at::Tensor leaf = at::ones({4, 4}, at::kDouble);
  const WeightLayout layout = layout_of(leaf, {2, 2});
  const ScoredWeight weight{leaf, layout, 2};  // density 1/2: A in [0.5, 2]
  const auto score = make_score("attention", weight, {});
  at::Tensor logits = score->parameters()[0].tensor;
  logits.detach().copy_(at::tensor({5.0, 4.0, -4.0, -5.0}, at::kDouble));
  const at::Tensor gate = score->gate(weight);
  EXPECT_DOUBLE_EQ(gate[0].item<double>(), 2);
  EXPECT_DOUBLE_EQ(gate[2].item<double>(), 0.5);
  EXPECT_DOUBLE_EQ(gate[3].item<double>(), 0.5);
  const at::Tensor importance = score->importance(weight);
  for (int i = 0; i + 1 < 4; ++i) EXPECT_GT(importance[i].item<double>(), importance[i + 1].item<double>());
  const auto free = make_score("attention", weight, {.clip = {.on = false}});
  free->parameters()[0].tensor.detach().copy_(logits.detach());
  EXPECT_NEAR(free->gate(weight).sum().item<double>(), 4, 1e-12);
  EXPECT_LT(free->gate(weight)[3].item<double>(), 0.01);
}

TEST(Score, AttentionOnPowersRanksByTheEffectiveNorm) {
  at::manual_seed(2);
  at::Tensor leaf = at::randn({6, 6}, at::kDouble);
  const WeightLayout layout = layout_of(leaf, {2, 3});
  const ScoredWeight weight{leaf, layout, 2};
  const auto score = make_score("attention-power", weight, {.clip = {.on = false}, .alpha = 1.5});
  score->parameters()[0].tensor.detach().normal_();
  const at::Tensor effective = block_scale(leaf, score->gate(weight), {}, layout);
  EXPECT_TRUE(
      at::allclose(score->importance(weight) + score->level(weight), block_norms(effective, layout).log()));
}

TEST(Score, GatedNormRanksByTheNormOfTheGatedBlock) {
  at::manual_seed(3);
  at::Tensor leaf = at::randn({7, 9}, at::kDouble);
  const WeightLayout layout = layout_of(leaf, {2, 3});
  const ScoredWeight weight{leaf, layout, 2};
  const auto score = make_score("gated-norm", weight, {.clip = {.on = false}});
  score->parameters()[0].tensor.detach().normal_();
  const at::Tensor effective = block_scale(leaf, score->gate(weight), {}, layout);
  EXPECT_TRUE(
      at::allclose(score->importance(weight) + score->level(weight), block_norms(effective, layout).log()));
}

/// In single precision log n is so large beside small logits that adding it first made many of them equal.
TEST(Score, RankingLosesNoDifferenceBetweenLogits) {
  at::manual_seed(4);
  const int64_t blocks = 3136;
  const at::Tensor leaf = at::zeros({blocks, 1});
  const ScoredWeight weight{leaf, layout_of(leaf, {1, 1}), 313};
  const auto score = make_score("attention", weight, {});
  at::Tensor logits = score->parameters()[0].tensor;
  logits.detach().copy_(at::randn({blocks}) * 1e-4);
  EXPECT_EQ(std::get<0>(at::_unique(score->importance(weight))).numel(),
            std::get<0>(at::_unique(logits)).numel());
  const at::Tensor chosen = top_k(score->importance(weight), weight.keep, {});
  const double least = logits.masked_select(chosen != 0).min().item<double>();
  EXPECT_GE(least, logits.masked_select(chosen == 0).max().item<double>());
}

TEST(Score, LogitsMayStartFromNormsWithoutChangingTheNetwork) {
  at::manual_seed(5);
  const at::Tensor original = at::randn({8, 12}, at::kDouble);
  original.narrow(0, 0, 2).mul_(50);
  original.narrow(0, 6, 2).zero_();
  for (const char* name : {"attention", "gated-norm"}) {
    at::Tensor leaf = original.clone();
    const WeightLayout layout = layout_of(leaf, {4, 2});
    const ScoredWeight weight{leaf, layout, 3};
    const auto score = make_score(name, weight, {.start = 0.5});
    EXPECT_TRUE(at::allclose(block_scale(leaf, score->gate(weight), {}, layout), original)) << name;
    const at::Tensor logits = score->parameters()[0].tensor.detach();
    EXPECT_GT(logits[0].item<double>(), logits[1].item<double>());
    EXPECT_TRUE(logits.isfinite().all().item<bool>());
  }
}

TEST(Score, AttentionIsClampedWhereTheUserSays) {
  const at::Tensor leaf = at::ones({4, 4}, at::kDouble);
  const ScoredWeight weight{leaf, layout_of(leaf, {2, 2}), 2};
  const auto score = make_score("attention", weight, {.clip = parse_attention_clip("0.1,1.5")});
  score->parameters()[0].tensor.detach().copy_(at::tensor({5.0, 4.0, -4.0, -5.0}, at::kDouble));
  EXPECT_DOUBLE_EQ(score->gate(weight)[0].item<double>(), 1.5);
  EXPECT_DOUBLE_EQ(score->gate(weight)[3].item<double>(), 0.1);
  EXPECT_FALSE(parse_attention_clip("false").on);
  EXPECT_EQ(to_string(parse_attention_clip("0.1,1.5")), "0.1,1.5");
  for (const char* bad : {"", "0.5", "2,3", "0.1,0.5", "a,b", "-1,2", "0.1,1,2"}) {
    EXPECT_THROW(parse_attention_clip(bad), Error) << bad;
  }
}

/// The hook on the shown weight against sums by the formula, dropped blocks included.
TEST(Score, GradientScoresSeeTheGradientOfEveryBlock) {
  at::manual_seed(6);
  at::Tensor leaf = at::randn({6, 9}, at::kDouble);
  const at::Tensor target = at::randn({6, 9}, at::kDouble);
  const WeightLayout layout = layout_of(leaf, {2, 4});
  Layer layer;
  layer.weight = {leaf, layout, 3};
  layer.score = make_score("regrowth", layer.weight, {});
  at::Tensor seen;
  layer.slot = {"w", leaf, [&](const at::Tensor& t) { seen = t; }};
  leaf.set_requires_grad(true);
  layer.set_support((at::arange(layout.grid.blocks()) % 3 == 0).to(at::kByte), {});
  layer.show(false);
  (seen * target).sum().backward();
  EXPECT_TRUE(at::allclose(layer.score->growth(), block_norms(target, layout)));
  const auto taylor = make_score("taylor", layer.weight, {});
  taylor->see_gradient(layer.weight, target);
  const at::Tensor products = leaf.detach() * target;
  for (int64_t block = 0; block < layout.grid.blocks(); ++block) {
    at::Tensor only = at::zeros({layout.grid.blocks()}, at::kByte);
    only[block] = 1;
    const double sum = block_scale(products, {}, only, layout).sum().item<double>();
    EXPECT_NEAR(taylor->importance(layer.weight)[block].item<double>(), 0.1 * std::abs(sum), 1e-12);
  }
}

TEST(Score, UnknownNamesAreRejected) {
  const at::Tensor leaf = at::ones({4, 4});
  EXPECT_THROW(make_score("nope", {leaf, layout_of(leaf, {2, 2}), 1}, {}), Error);
  EXPECT_THROW(make_score("powerprop", {leaf, layout_of(leaf, {2, 2}), 1}, {.alpha = 0.5}), Error);
}

}  // namespace
}  // namespace hewn::prune
