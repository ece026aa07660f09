// During a SPARSE phase no dropped weight changes by a single bit, whatever the optimiser does.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/nn/layers.h"
#include "hewn/nn/slots.h"
#include "hewn/optimiser.h"
#include "hewn/prune/gate.h"

namespace hewn::train {
namespace {

struct Setting {
  std::string method;
  std::string optimiser_kind;
  prune::DropRule drop;
  bool sparse = false;  // run on kept blocks only
};

class Frozen : public testing::TestWithParam<Setting> {};

at::Tensor element_mask(const prune::Pruner::Layer& layer) {
  return prune::block_scale(at::ones_like(layer.weight.leaf), {}, layer.support, layer.weight.layout);
}

TEST_P(Frozen, DroppedWeightsKeepEveryBitAndComeBackByTheDropRule) {
  const Setting& setting = GetParam();
  at::manual_seed(5);
  nn::Linear layer(60, 60);
  const auto slots = nn::find_slots(*layer);
  const auto plan = prune::make_plan(nn::weight_shapes(slots), {{4, 4}, 0.8, 100, {"*"}});
  prune::Recipe recipe = prune::find_recipe(setting.method);
  recipe.schedule = prune::schedule_for(recipe.schedule, {});
  recipe.drop = setting.drop;
  recipe.reset = prune::ResetRule::kNone;  // momentum is left in place on purpose
  const int64_t steps = 300;
  prune::Pruner pruner(slots, plan, recipe, steps);
  if (setting.sparse) pruner.set_execution([](const prune::Pruner::Layer&, double) { return true; });
  std::vector<Parameter> parameters;
  Parameter weight{"w", slots[0].leaf, 1, 0.05};
  weight.layer = &pruner.layers()[0];
  parameters.push_back(weight);
  for (const auto& score : pruner.layers()[0].score->parameters())
    parameters.push_back({"s", score.tensor, 10, 0.05});
  Optimiser optimiser(parameters, {.kind = setting.optimiser_kind});

  at::Tensor frozen, mask, before_drop;
  int64_t sparse_steps = 0, returns = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const at::Tensor before = slots[0].leaf.detach().clone();
    const auto change = pruner.advance(step);
    pruner.show();
    const at::Tensor now = slots[0].leaf.detach().clone();
    const auto phase = pruner.moment().phase;
    if (change.entered && phase == prune::Phase::kSparse) {
      mask = element_mask(pruner.layers()[0]);
      frozen = now;
      const at::Tensor dropped = before.masked_select(mask == 0);
      const at::Tensor kept_value = now.masked_select(mask == 0);
      EXPECT_TRUE(
          at::equal(kept_value, setting.drop == prune::DropRule::kZero ? at::zeros_like(dropped) : dropped));
    }
    if (change.entered && phase == prune::Phase::kDense && frozen.defined()) {
      // What returns is what was put away: zeros, or the old values.
      EXPECT_TRUE(at::equal(now.masked_select(mask == 0), frozen.masked_select(mask == 0)));
      ++returns;
    }
    if (phase == prune::Phase::kSparse) {
      ++sparse_steps;
      EXPECT_TRUE(at::equal(now.masked_select(mask == 0), frozen.masked_select(mask == 0)))
          << "step " << step;
    }
    EXPECT_EQ(pruner.layers()[0].sparse != nullptr, setting.sparse && pruner.layers()[0].support.defined());
    optimiser.zero_grad();
    (layer->forward(at::randn({8, 60})) - 1).square().mean().backward();
    optimiser.step(0.05);
    if (phase == prune::Phase::kSparse) {
      EXPECT_FALSE(at::equal(slots[0].leaf.detach(), now));  // kept weights do move
      EXPECT_TRUE(
          at::equal(slots[0].leaf.detach().masked_select(mask == 0), frozen.masked_select(mask == 0)));
    }
  }
  EXPECT_GT(sparse_steps, 90);
  EXPECT_GE(returns, 6);
}

INSTANTIATE_TEST_SUITE_P(All, Frozen,
                         testing::Values(Setting{"acdc", "sgd", prune::DropRule::kZero},
                                         Setting{"acdc", "adam", prune::DropRule::kMask},
                                         Setting{"sa++", "sgd", prune::DropRule::kMask},
                                         Setting{"sa++", "adam", prune::DropRule::kZero},
                                         Setting{"sa++", "adamw", prune::DropRule::kMask},
                                         Setting{"acdc", "sgd", prune::DropRule::kMask, true},
                                         Setting{"sa++", "sgd", prune::DropRule::kZero, true},
                                         Setting{"sa++", "adam", prune::DropRule::kMask, true},
                                         Setting{"sa++", "adamw", prune::DropRule::kZero, true}),
                         [](const auto& test) {
                           return (test.param.method == "acdc" ? "acdc_" : "sa_") +
                                  test.param.optimiser_kind +
                                  (test.param.drop == prune::DropRule::kZero ? "_zero" : "_mask") +
                                  (test.param.sparse ? "_kept_blocks" : "");
                         });

}  // namespace
}  // namespace hewn::train
