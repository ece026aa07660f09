#include "hewn/prune/pruner.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"

namespace hewn::prune {
namespace {

/// One 40x40 weight in 4x4 blocks, 80 % sparsity: 20 of 100 blocks stay.
struct Bench {
  at::Tensor leaf = at::randn({40, 40}).set_requires_grad(true);
  at::Tensor seen;
  std::unique_ptr<Pruner> pruner;

  Bench(const std::string& name, int64_t steps, const std::function<void(Recipe&)>& change = {}) {
    Recipe recipe = find_recipe(name);
    recipe.schedule = schedule_for(recipe.schedule, {});
    if (change) change(recipe);
    const Plan plan = make_plan({{"w", {40, 40}, {40, 40, {}}}}, {{4, 4}, 0.8, 100, {"*"}});
    pruner = std::make_unique<Pruner>(
        std::vector<WeightSlot>{{"w", leaf, [this](const at::Tensor& t) { seen = t; }}}, plan, recipe, steps);
  }
  PhaseChange step(int64_t number) const {
    const PhaseChange change = pruner->advance(number);
    pruner->show();
    return change;
  }
  int64_t active() const {
    const at::Tensor& support = pruner->layers()[0].support;
    return support.defined() ? support.sum().item<int64_t>() : 100;
  }
};

TEST(Pruner, ChoosesOnlyAtTheEndOfDenseAndDuringSparsification) {
  Bench acdc("acdc", 100);
  for (int64_t step = 0; step < 100; ++step) acdc.step(step);
  EXPECT_EQ(acdc.pruner->selections(), 8);  // once for each SPARSE phase, never in DENSE

  Bench sa("sa++", 300, [](Recipe& r) { r.rerank_every = 5; });
  for (int64_t step = 0; step < 300; ++step) sa.step(step);
  // Six ramps of 10 steps re-rank at 0 and 5 (nothing is dropped at 0), one of 45 at 0, 5, ..., 40; seven
  // SPARSE phases.
  EXPECT_EQ(sa.pruner->selections(), 6 * 1 + 8 + 7);
}

TEST(Pruner, RampNarrowsAndNeverBringsABlockBackBeforeDense) {
  Bench bench("sa++", 3000);
  at::Tensor before;
  Phase last = Phase::kDense;
  for (int64_t step = 0; step < 3000; ++step) {
    at::Tensor logits = bench.pruner->layers()[0].score->parameters()[0].tensor;
    logits.detach().add_(at::randn({100}), 0.1);  // rankings keep changing
    bench.step(step);
    const Moment moment = bench.pruner->moment();
    const at::Tensor support = bench.pruner->layers()[0].support;
    if (moment.phase == Phase::kDense) {
      EXPECT_FALSE(support.defined());
    } else {
      if (before.defined() && last != Phase::kDense) {
        EXPECT_FALSE((support.gt(before)).any().item<bool>()) << "a dropped block came back at step " << step;
      }
      EXPECT_EQ(bench.active(), bench.pruner->active_blocks(bench.pruner->layers()[0], moment));
    }
    if (moment.phase == Phase::kSparse) {
      EXPECT_EQ(bench.active(), 20);
    }
    before = support;
    last = moment.phase;
  }
}

TEST(Pruner, DropRules) {
  for (const bool zero : {false, true}) {
    Bench bench("acdc", 100, [&](Recipe& r) { r.drop = zero ? DropRule::kZero : DropRule::kMask; });
    bench.step(0);
    const at::Tensor old = bench.leaf.detach().clone();
    bench.step(10);  // SPARSE
    EXPECT_EQ((bench.seen == 0).sum().item<int64_t>(), 1280);
    EXPECT_EQ((bench.leaf == 0).sum().item<int64_t>(), zero ? 1280 : 0);
    bench.step(15);  // DENSE again
    EXPECT_TRUE(bench.seen.is_same(bench.leaf));
    EXPECT_TRUE(at::equal(bench.leaf.detach(), zero ? at::where(bench.leaf == 0, 0, old) : old));
  }
}

TEST(Pruner, ResetRules) {
  const std::vector<std::pair<ResetRule, int>> rules = {
      {ResetRule::kNone, 0}, {ResetRule::kDecompress, 7}, {ResetRule::kEvery, 15}};
  for (const auto& [rule, expected] : rules) {
    Bench bench("acdc", 100, [rule = rule](Recipe& r) { r.reset = rule; });
    int resets = 0;
    for (int64_t step = 0; step < 100; ++step) resets += bench.step(step).reset_optimiser ? 1 : 0;
    EXPECT_EQ(resets, expected);
  }
}

TEST(Pruner, FoldKeepsWhatTheForwardPassSaw) {
  Bench bench("sa++", 100);
  bench.pruner->layers()[0].score->parameters()[0].tensor.detach().copy_(at::randn({100}));
  bench.step(99);
  const at::Tensor seen = bench.seen.detach().clone();
  bench.pruner->fold();
  EXPECT_TRUE(at::equal(bench.leaf.detach(), seen));
  EXPECT_TRUE(bench.seen.is_same(bench.leaf));
}

TEST(Pruner, StateRestoresSupportsScoresAndPhase) {
  Bench a("sa++", 300);
  Bench b("sa++", 300);
  b.leaf.detach().copy_(a.leaf.detach());
  for (int64_t step = 0; step < 250; ++step) {
    a.pruner->layers()[0].score->parameters()[0].tensor.detach().add_(at::randn({100}), 0.1);
    a.step(step);
  }
  std::map<std::string, at::Tensor> state;
  for (const auto& [name, tensor] : a.pruner->state()) state[name] = tensor.detach().clone();
  b.leaf.detach().copy_(a.leaf.detach());
  b.pruner->load_state(state, a.pruner->phase_index());
  for (int64_t step = 250; step < 300; ++step) {
    EXPECT_EQ(a.step(step).entered, b.step(step).entered);
    EXPECT_TRUE(at::equal(a.seen, b.seen));
  }
}

TEST(Pruner, RejectsPartsThatDoNotGoTogether) {
  EXPECT_THROW(Bench("acdc", 100, [](Recipe& r) { r.score = "powerprop"; }), Error);
  EXPECT_THROW(Bench("sa++", 100, [](Recipe& r) { r.rerank_every = 0; }), Error);
}

}  // namespace
}  // namespace hewn::prune
