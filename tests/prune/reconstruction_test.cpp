// The score that looks at activations: its definition, and when it looks.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/pruner.h"

namespace hewn::prune {
namespace {

TEST(Reconstruction, IsWhatTheOutputsMoveByWhenABlockIsDropped) {
  at::manual_seed(5);
  const at::Tensor leaf = at::randn({7, 10}, at::kDouble);  // 10 inputs, 7 outputs, ragged in both
  const WeightLayout layout = layout_of(leaf, {4, 3});
  const ScoredWeight weight{leaf, layout, 3};
  const auto score = make_score("reconstruction", weight, {});
  const at::Tensor x = at::randn({50, 10}, at::kDouble).mm(at::randn({10, 10}, at::kDouble)) + 2;
  score->see(x);
  const at::Tensor found = score->importance(weight);
  at::Tensor expected = at::empty({9}, at::kDouble);
  for (int64_t block = 0; block < 9; ++block) {
    at::Tensor others = at::ones({9}, at::kByte);
    others[block] = 0;
    const at::Tensor moved = x.mm((leaf - block_scale(leaf, {}, others, layout)).t());
    expected[block] = (moved - moved.mean(0)).norm();  // the bias makes up for the mean
  }
  EXPECT_TRUE(at::allclose(found, expected / expected.norm(), 1e-9, 0));
}

TEST(Reconstruction, ConvolutionsCountInTheOrderOfTheirGrid) {
  at::manual_seed(6);
  const at::Tensor leaf = at::randn({6, 4, 3, 3}, at::kDouble);
  const at::Tensor rows = at::randn({40, 36}, at::kDouble);
  at::Tensor last = leaf.contiguous(at::MemoryFormat::ChannelsLast);
  const ScoredWeight plain{leaf, layout_of(leaf, {4, 2}), 3};
  const ScoredWeight channels_last{last, layout_of(last, {4, 2}), 3};
  const auto a = make_score("reconstruction", plain, {});
  const auto b = make_score("reconstruction", channels_last, {});
  // Nothing seen yet: the norms of the blocks.
  const at::Tensor norms = block_norms(leaf, plain.layout);
  EXPECT_TRUE(at::allclose(a->importance(plain), norms / norms.norm()));
  a->see(rows);
  b->see(rows);
  EXPECT_TRUE(at::allclose(a->importance(plain), b->importance(channels_last)));
}

TEST(Reconstruction, ForgetsOldInputs) {
  const at::Tensor leaf = at::ones({2, 4}, at::kDouble);
  const ScoredWeight weight{leaf, layout_of(leaf, {2, 2}), 1};
  const auto score = make_score("reconstruction", weight, {});
  const auto inputs = [](double first, double second) {
    return at::tensor({first, -first, second, -second, -first, first, -second, second}, at::kDouble)
        .view({2, 4});
  };
  at::Tensor changed = leaf.clone();
  changed.slice(1, 0, 4, 2).fill_(2);  // so that contributions do not cancel
  const ScoredWeight seen{changed, weight.layout, 1};
  for (int i = 0; i < 50; ++i) score->see(inputs(3, 1));
  EXPECT_GT(score->importance(seen)[0].item<double>(), score->importance(seen)[1].item<double>());
  for (int i = 0; i < 600; ++i) score->see(inputs(1, 3));
  EXPECT_LT(score->importance(seen)[0].item<double>(), score->importance(seen)[1].item<double>());
}

/// A slot whose layer is played by the test.
struct Bench {
  at::Tensor leaf = at::randn({40, 40}).set_requires_grad(true);
  SeeInput see;
  std::unique_ptr<Pruner> pruner;

  explicit Bench(const std::string& schedule) {
    Recipe recipe = find_recipe("magnitude");
    recipe.score = "reconstruction";
    recipe.schedule = schedule;
    const Plan plan = make_plan({{"w", {40, 40}, {40, 40, {}}}}, {{4, 4}, 0.8, 100, {"*"}});
    WeightSlot slot{"w", leaf, [](const at::Tensor&) {}};
    slot.watch = [this](const SeeInput& given) { see = given; };
    slot.rows = [](const at::Tensor& input) { return input; };
    pruner = std::make_unique<Pruner>(std::vector<WeightSlot>{slot}, plan, recipe, 100);
  }
  void step(int64_t number) const {
    pruner->advance(number);
    pruner->show();
  }
  int64_t seen() const { return pruner->state().at("memory.w.steps").item<int64_t>(); }
};

TEST(Reconstruction, LooksWhileBlocksAreStillToBeChosen) {
  Bench bench("one-shot");
  EXPECT_FALSE(bench.see);  // not before training: sizes are tried out then
  for (int64_t step = 0; step < 100; ++step) {
    bench.step(step);
    EXPECT_EQ(static_cast<bool>(bench.see), step < 50) << step;
    if (bench.see) bench.see(at::randn({3, 40}));
    bench.pruner->refresh();
    EXPECT_FALSE(bench.see);  // an evaluation shows other data
  }
  EXPECT_EQ(bench.seen(), 50);
}

TEST(Reconstruction, WhatWasSeenIsPartOfTheState) {
  Bench one("one-shot");
  Bench two("one-shot");
  two.leaf.detach().copy_(one.leaf.detach());
  for (int64_t step = 0; step < 10; ++step) {
    one.step(step);
    one.see(at::randn({30, 40}) * at::linspace(0.1, 3, 40));
  }
  two.pruner->load_state(one.pruner->state(), 0);
  one.step(60);
  two.step(60);
  EXPECT_TRUE(at::equal(one.pruner->layers()[0].support, two.pruner->layers()[0].support));
  Bench fresh("one-shot");
  fresh.leaf.detach().copy_(one.leaf.detach());
  fresh.step(60);
  EXPECT_FALSE(at::equal(one.pruner->layers()[0].support, fresh.pruner->layers()[0].support));
}

TEST(Reconstruction, LayersThatShowNothingAreNamed) {
  Recipe recipe = find_recipe("magnitude");
  recipe.score = "reconstruction";
  const at::Tensor leaf = at::randn({40, 40});
  const Plan plan = make_plan({{"w", {40, 40}, {40, 40, {}}}}, {{4, 4}, 0.8, 100, {"*"}});
  const std::vector<WeightSlot> slots = {{"w", leaf, [](const at::Tensor&) {}}};
  try {
    Pruner(slots, plan, recipe, 10);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("layer \"w\" does not show its inputs"), std::string::npos);
  }
}

}  // namespace
}  // namespace hewn::prune
