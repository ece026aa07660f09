#include "hewn/prune/recipes.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/prune/pruner.h"

namespace hewn::prune {
namespace {

TEST(Recipes, EveryRowRunsFromStartToEnd) {
  for (Recipe recipe : recipes()) {
    recipe.schedule = schedule_for(recipe.schedule, {});
    at::Tensor leaf = at::randn({40, 40}).set_requires_grad(true);
    at::Tensor seen;
    const std::vector<WeightSlot> slots = {{"w", leaf, [&](const at::Tensor& t) { seen = t; }}};
    const Plan plan = make_plan({{"w", {40, 40}, {40, 40, {}}}}, {{4, 4}, 0.8, 100, {"*"}});
    Pruner pruner(slots, plan, recipe, 60);
    for (int64_t step = 0; step < 60; ++step) {
      pruner.advance(step);
      pruner.show();
      seen.square().sum().backward();
      // What keeps a score without gradients of its own from ranking by nothing.
      at::NoGradGuard no_grad;
      leaf.add_(at::randn_like(leaf), 0.01);
    }
    pruner.fold();
    const auto zeros = (leaf == 0).sum().item<int64_t>();
    EXPECT_EQ(zeros, recipe.dense() ? 0 : 1280) << recipe.name;
    EXPECT_TRUE(seen.is_same(leaf));
  }
}

TEST(Recipes, TakeTheFormThatFits) {
  const Recipe acdc = recipe_for("acdc", {.clicks = true, .adam = true});
  EXPECT_EQ(acdc.schedule, "acdc/ctr");
  EXPECT_EQ(acdc.drop, DropRule::kMask);
  EXPECT_EQ(recipe_for("acdc", {}).drop, DropRule::kZero);
  EXPECT_EQ(recipe_for("magnitude", {.clicks = true}).schedule_options.dense_fraction, 0.8);
  EXPECT_EQ(recipe_for("sa++", {.adam = true}).logit_lr, 1);
  EXPECT_EQ(kUsualMethod, "sa++r");
}

/// One rule: nothing but the optimiser and the start change it, and the paper's own stays as it is.
TEST(Recipes, TheDefaultIsOneRule) {
  const Recipe plain = recipe_for("sa++r", {});
  for (const bool clicks : {false, true}) {
    for (const bool adam : {false, true}) {
      const Recipe recipe = recipe_for("sa++r", {.clicks = clicks, .adam = adam});
      EXPECT_EQ(recipe.score, "gated-norm");
      EXPECT_EQ(recipe.drop, DropRule::kZero);
      EXPECT_EQ(recipe.logit_lr, plain.logit_lr);
      EXPECT_EQ(recipe.logit_decay, 0);
      EXPECT_FALSE(recipe.shared_moment);
      EXPECT_EQ(recipe.budget.kind, BudgetKind::kUniform);
      // Under Adam one cubic ramp, but for click logs.
      const bool ramp = adam && !clicks;
      EXPECT_EQ(recipe.schedule, ramp ? "gradual" : clicks ? "sa++/ctr" : "sa++/imagenet");
      EXPECT_EQ(recipe.ramp, ramp ? Ramp::kPolynomial : plain.ramp);
    }
  }
  for (const bool adam : {false, true}) {
    const Recipe trained = recipe_for("sa++r", {.adam = adam, .trained = true});
    EXPECT_EQ(trained.schedule, "gradual");
    EXPECT_EQ(trained.schedule_options.dense_fraction, 0);
    EXPECT_EQ(trained.logit_lr, 1);
    EXPECT_EQ(trained.clip_grad, 0);
    EXPECT_EQ(recipe_for("magnitude++", {.adam = adam, .trained = true}).schedule, "sa++/imagenet");
  }
  EXPECT_EQ(recipe_for("sa++r", {.clicks = true, .adam = true, .trained = true}).schedule, "sa++/ctr");
  EXPECT_EQ(recipe_for("sa++", {.trained = true}).schedule, "sa++/imagenet");
  const Recipe paper = recipe_for("sa++", {});
  EXPECT_EQ(paper.score, "attention");
  EXPECT_EQ(paper.drop, DropRule::kMask);
  EXPECT_EQ(paper.clip_grad, 0);
}

TEST(Recipes, NamesAreCheckedAndFormsChosenByTask) {
  EXPECT_THROW(find_recipe("sa+++"), Error);
  EXPECT_EQ(schedule_for("sa++", {.clicks = true}), "sa++/ctr");
  EXPECT_EQ(schedule_for("acdc", {}), "acdc/imagenet");
  EXPECT_EQ(schedule_for("one-shot", {.clicks = true}), "one-shot");
  EXPECT_THROW(parse_drop_rule("keep"), Error);
  EXPECT_THROW(parse_reset_rule("always"), Error);
  EXPECT_THROW(parse_ramp("linear"), Error);
}

}  // namespace
}  // namespace hewn::prune
