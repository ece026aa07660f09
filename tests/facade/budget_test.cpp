// Budgets, revived blocks and decay behind the mask, through the facade on a small chain of layers.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/nn/layers.h"
#include "hewn/optimiser.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/reachability.h"
#include "hewn/pruner.h"

namespace hewn {
namespace {

constexpr int64_t kSteps = 60;

struct Chain : torch::nn::Module {
  nn::Linear fc1{48, 64};
  nn::Linear fc2{64, 32};
  Chain() {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }
  at::Tensor forward(const at::Tensor& x) { return fc2(fc1(x).relu()); }
};

PrunerOptions chain_options() {
  return {.block = {4, 4},
          .sparsity = 0.9,
          .steps = kSteps,
          .min_blocks = 10,
          .positions = {{"fc1", 100}, {"fc2", 1}},
          .chain = {"fc1", "fc2"}};
}

/// Calls look(pruner) after every step.
template <class Look>
Blocks train(Chain& net, const PrunerOptions& options, const OptimiserOptions& update, const Look& look) {
  at::manual_seed(5);
  Pruner pruner(net, options);
  Optimiser optimiser(pruner, update);
  for (int64_t i = 0; i < kSteps; ++i) {
    const at::Tensor x = at::randn({32, 48});
    pruner.step();
    optimiser.zero_grad();
    (net.forward(x) - x.narrow(1, 0, 32)).square().mean().backward();
    optimiser.step();
    look(pruner);
  }
  return pruner.finish();
}

Blocks train(Chain& net, const PrunerOptions& options) {
  return train(net, options, {.lr = 0.05}, [](Pruner&) {});
}

TEST(Budgets, LimitsAreMetWithTheRealSupports) {
  for (const char* budget : {"bytes=0.15", "flops=0.15"}) {
    Chain net;
    PrunerOptions options = chain_options();
    options.budget = budget;
    const Blocks blocks = train(net, options);
    const bool bytes = std::string(budget).starts_with("bytes");
    int64_t spent = 0;
    int64_t dense = 0;
    for (const auto& [name, kept] : blocks) {
      const int64_t uses = options.positions.at(name);
      dense += bytes ? 4 * kept.grid().elements() : kept.grid().elements() * uses;
      spent +=
          bytes ? prune::sparse_bytes(kept.grid(), kept.kept(), kept.elements()) : kept.elements() * uses;
      EXPECT_GT(kept.kept(), 0) << name;
    }
    EXPECT_LE(spent, 0.15 * static_cast<double>(dense)) << budget;
    EXPECT_GE(spent, 0.13 * static_cast<double>(dense)) << budget;
  }
}

TEST(Budgets, MultiplyAddsAreSavedWhereTheyAreDear) {
  PrunerOptions options = chain_options();
  options.revive = false;
  Chain global;
  options.budget = "bytes=0.15";
  const double by_bytes = train(global, options).at("fc1").density();
  Chain dear;
  options.budget = "flops=0.15";
  EXPECT_LT(train(dear, options).at("fc1").density(), by_bytes);
}

int64_t dead_blocks(const Blocks& blocks) {
  int64_t dead = 0;
  for (const prune::LinkReach& reach :
       prune::reachability({{"fc1", blocks.at("fc1").grid(), blocks.at("fc1").flags()},
                            {"fc2", blocks.at("fc2").grid(), blocks.at("fc2").flags()}})) {
    dead += reach.kept - reach.live;
  }
  return dead;
}

TEST(Budgets, NoKeptBlockIsWithoutUse) {
  PrunerOptions options = chain_options();
  options.sparsity = 0.95;
  options.revive = false;
  Chain plain;
  const Blocks before = train(plain, options);
  EXPECT_GT(dead_blocks(before), 0);  // else this test shows nothing
  options.revive.reset();
  Chain revived;
  const Blocks after = train(revived, options);
  EXPECT_EQ(dead_blocks(after), 0);
  for (const char* layer : {"fc1", "fc2"}) EXPECT_EQ(after.at(layer).kept(), before.at(layer).kept());
}

TEST(Budgets, DroppedWeightsDecayOnlyWhereAskedFor) {
  for (const bool decays : {false, true}) {
    Chain net;
    PrunerOptions options = chain_options();
    options.method = "sa++";  // keeps the values of dropped weights
    options.decay_dropped = decays;
    at::Tensor before;
    bool moved = false;
    train(net, options, {.lr = 0.05, .weight_decay = 0.1}, [&](Pruner& pruner) {
      const prune::Pruner::Layer& layer = pruner.algorithm().layers().front();
      const bool sparse = pruner.algorithm().moment().phase == prune::Phase::kSparse;
      const at::Tensor dropped =
          sparse ? prune::block_scale(layer.weight.leaf.detach(), {}, 1 - layer.support, layer.weight.layout)
                 : at::Tensor();
      if (before.defined() && dropped.defined()) moved = moved || !at::equal(before, dropped);
      before = dropped;
    });
    EXPECT_EQ(moved, decays);
  }
}

TEST(Budgets, WhatDoesNotGoTogetherIsRefused) {
  Chain net;
  PrunerOptions options = chain_options();
  options.method = "rigl";
  options.budget = "global";
  EXPECT_THROW(Pruner(net, options), Error);
  options = chain_options();
  options.budget = "flops=0.2";
  options.positions.clear();
  EXPECT_THROW(Pruner(net, options), Error);
  options.budget = "half";
  EXPECT_THROW(Pruner(net, options), Error);
}

}  // namespace
}  // namespace hewn
