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
  EXPECT_EQ(recipe_for("sa++r", {}).logit_lr, 10);
  EXPECT_EQ(recipe_for("sa++r", {}).score, "attention");
  EXPECT_EQ(recipe_for("sa++r", {.adam = true}).logit_lr, 3);
  EXPECT_EQ(recipe_for("sa++r", {.adam = true}).score, "attention");
  EXPECT_TRUE(recipe_for("sa++r", {.clicks = true, .adam = true}).shared_moment);
  EXPECT_EQ(recipe_for("sa++r", {.clicks = true, .adam = true}).score, "attention-power");
  EXPECT_FALSE(recipe_for("sa++", {.adam = true}).shared_moment);
  EXPECT_EQ(recipe_for("sa++", {.adam = true}).logit_lr, 1);
  EXPECT_EQ(usual_method({.normalised = true}), "sa++");
  EXPECT_EQ(usual_method({}), "sa++r");
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
