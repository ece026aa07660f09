#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/kernels/tile.h"
#include "hewn/nn/layers.h"
#include "hewn/nn/model.h"
#include "hewn/nn/slots.h"
#include "hewn/optimiser.h"
#include "hewn/prune/execution.h"

namespace hewn::train {
namespace {

constexpr int64_t kSteps = 200;

struct Net {
  std::shared_ptr<nn::Model> model;
  std::unique_ptr<prune::Pruner> pruner;
  std::unique_ptr<Optimiser> optimiser;

  explicit Net(const std::string& method) {
    at::manual_seed(7);
    model = nn::find_model("mlp").make({{40}, 5}, {{64, 64}, 0});
    const auto slots = nn::find_slots(*model);
    const auto plan = prune::make_plan(nn::weight_shapes(slots), {{4, 4}, 0.8, 100, {"*"}});
    prune::Recipe recipe = prune::find_recipe(method);
    recipe.schedule = prune::schedule_for(recipe.schedule, {});
    pruner = std::make_unique<prune::Pruner>(slots, plan, recipe, kSteps);
    std::vector<Parameter> parameters;
    for (const auto& item : model->named_parameters()) {
      Parameter parameter{item.key(), item.value(), 1, 1e-3};
      for (const auto& layer : pruner->layers()) {
        if (layer.weight.leaf.is_same(item.value())) parameter.layer = &layer;
      }
      parameters.push_back(parameter);
    }
    for (const auto& layer : pruner->layers()) {
      for (const auto& score : layer.score->parameters())
        parameters.push_back({layer.name, score.tensor, 10, 0});
    }
    optimiser = std::make_unique<Optimiser>(parameters, OptimiserOptions{.clip_norm = 1});
  }

  void step(int64_t number) {
    const prune::PhaseChange change = pruner->advance(number);
    pruner->show();
    if (change.reset_optimiser) optimiser->reset();
    at::manual_seed(static_cast<uint64_t>(1000 + number));
    const at::Tensor x = at::randn({32, 40});
    optimiser->zero_grad();
    (model->forward(x) - x.narrow(1, 0, 5).sin()).square().mean().backward();
    optimiser->step(0.05);
  }
};

TEST(Execution, KeptBlocksAloneTrainTheSameNetwork) {
  for (const char* method : {"sa++r", "sa++", "acdc", "powerprop"}) {
    SCOPED_TRACE(method);
    Net dense(method);
    Net sparse(method);
    sparse.pruner->set_execution([](const prune::Pruner::Layer&, double density) { return density < 0.9; });
    int64_t on_blocks = 0;
    for (int64_t i = 0; i < kSteps; ++i) {
      dense.step(i);
      sparse.step(i);
      for (size_t l = 0; l < dense.pruner->layers().size(); ++l) {
        const auto& a = dense.pruner->layers()[l];
        const auto& b = sparse.pruner->layers()[l];
        on_blocks += b.sparse != nullptr ? 1 : 0;
        ASSERT_EQ(a.support.defined(), b.support.defined());
        ASSERT_TRUE(!a.support.defined() || at::equal(a.support, b.support)) << "step " << i;
        // Rounding grows slowly: the two must stay together, not be equal.
        const double scale = a.weight.leaf.abs().max().item<double>();
        ASSERT_LT((a.weight.leaf - b.weight.leaf).abs().max().item<double>(), 1e-3 * scale) << "step " << i;
      }
    }
    EXPECT_GT(on_blocks, kSteps / 2);
    sparse.pruner->fold();
    for (const auto& layer : sparse.pruner->layers()) EXPECT_EQ(layer.sparse, nullptr);
  }
}

TEST(Execution, ARestoredPrunerRunsAsBefore) {
  Net net("sa++");
  net.pruner->set_execution([](const prune::Pruner::Layer&, double) { return true; });
  int64_t step = 0;
  while (net.pruner->moment().phase != prune::Phase::kSparse) net.step(step++);
  ASSERT_NE(net.pruner->layers()[0].sparse, nullptr);
  Net other("sa++");
  other.pruner->set_execution([](const prune::Pruner::Layer&, double) { return true; });
  other.pruner->load_state(net.pruner->state(), net.pruner->phase_index());
  ASSERT_NE(other.pruner->layers()[0].sparse, nullptr);
  EXPECT_EQ(other.pruner->layers()[0].sparse->pattern().row, net.pruner->layers()[0].sparse->pattern().row);
}

TEST(Execution, ReadsAndWritesLimits) {
  const Net net("sa++");
  EXPECT_TRUE(prune::parse_limits("off", *net.pruner).empty());
  EXPECT_EQ(prune::to_text(prune::parse_limits("on", *net.pruner)), "fc1:1,fc2:1");
  EXPECT_EQ(prune::to_text(prune::parse_limits("fc2:0.25", *net.pruner)), "fc2:0.25");
  EXPECT_EQ(prune::to_text({}), "off");
  for (const char* bad : {"", "fc1", "fc1:", "fc1:2", "fc1:-1", ":0.5", "fc9:0.5", "fc3:0.5", "fc1:0.5,"}) {
    EXPECT_THROW(prune::parse_limits(bad, *net.pruner), Error) << bad;
  }
}

// The two ways round differently, so what chooses between them must not be a measurement.
TEST(Execution, TheUsualChoiceIsARuleOfBlockAndSize) {
  const auto limits = [](int64_t width, BlockShape block) {
    const auto model = nn::find_model("mlp").make({{128}, 5}, {{width}, 0});
    const auto slots = nn::find_slots(*model);
    const auto plan = prune::make_plan(nn::weight_shapes(slots), {block, 0.8, 4, {"fc1"}});
    prune::Recipe recipe = prune::find_recipe("sa++");
    recipe.schedule = prune::schedule_for(recipe.schedule, {});
    return prune::to_text(prune::usual_limits(prune::Pruner(slots, plan, recipe, kSteps)));
  };
  if (std::string_view(kernels::machine().name) == "portable") {
    EXPECT_EQ(limits(128, {16, 16}), "off");
    return;
  }
  EXPECT_EQ(limits(128, {16, 16}), "fc1:0.6");
  EXPECT_EQ(limits(128, {4, 32}), "fc1:0.3");
  EXPECT_EQ(limits(128, {32, 4}), "fc1:0.3");
  EXPECT_EQ(limits(128, {2, 2}), "off");
  EXPECT_EQ(limits(16, {8, 8}), "off");
}

}  // namespace
}  // namespace hewn::train
