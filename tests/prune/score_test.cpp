// Every registered score goes through one contract.
#include "hewn/prune/score/score.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/prune/gate.h"

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
  const auto free = make_score("attention", weight, {.clip = false});
  free->parameters()[0].tensor.detach().copy_(logits.detach());
  EXPECT_NEAR(free->gate(weight).sum().item<double>(), 4, 1e-12);
  EXPECT_LT(free->gate(weight)[3].item<double>(), 0.01);
}

TEST(Score, AttentionOnPowersRanksByTheEffectiveNorm) {
  at::manual_seed(2);
  at::Tensor leaf = at::randn({6, 6}, at::kDouble);
  const WeightLayout layout = layout_of(leaf, {2, 3});
  const ScoredWeight weight{leaf, layout, 2};
  const auto score = make_score("attention-power", weight, {.clip = false, .alpha = 1.5});
  score->parameters()[0].tensor.detach().normal_();
  const at::Tensor effective = block_scale(leaf, score->gate(weight), {}, layout);
  EXPECT_TRUE(at::allclose(score->importance(weight), block_norms(effective, layout).log()));
}

TEST(Score, UnknownNamesAreRejected) {
  const at::Tensor leaf = at::ones({4, 4});
  EXPECT_THROW(make_score("nope", {leaf, layout_of(leaf, {2, 2}), 1}, {}), Error);
  EXPECT_THROW(make_score("powerprop", {leaf, layout_of(leaf, {2, 2}), 1}, {.alpha = 0.5}), Error);
}

}  // namespace
}  // namespace hewn::prune
