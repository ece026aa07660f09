// Training a network that is pruned already, on the blocks that it has.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/conv.h>

#include "hewn/nn/layers.h"
#include "hewn/optimiser.h"
#include "hewn/pruner.h"
#include "hewn/zeros.h"
#include "tests/support/message.h"

namespace hewn {
namespace {

struct Net : torch::nn::Module {
  nn::Linear first{32, 24};
  nn::Linear second{24, 8};
  Net() {
    register_module("first", first);
    register_module("second", second);
  }
  at::Tensor forward(const at::Tensor& x) { return second(first(x).relu()); }
};

/// A net whose first layer has a third of its blocks of 4x4.
struct PrunedNet : Net {
  Blocks support;

  PrunedNet() {
    at::manual_seed(3);
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < 48; i += 3) kept.push_back(i);
    support["first"] = {{32, 24, {4, 4}}, kept};
    const at::NoGradGuard no_grad;
    for (int64_t i = 0; i < 48; ++i) {
      if (i % 3 != 0) first->weight.narrow(1, i / 6 * 4, 4).narrow(0, i % 6 * 4, 4).zero_();
    }
  }
};

void train(Net& net, Pruner& pruner, int64_t steps) {
  Optimiser optimiser(pruner, {.lr = 0.05, .weight_decay = 1e-3});
  for (int64_t i = 0; i < steps; ++i) {
    const at::Tensor x = at::randn({16, 32});
    pruner.step();
    optimiser.zero_grad();
    (net.forward(x) - x.narrow(1, 0, 8).sin()).square().mean().backward();
    optimiser.step();
  }
}

TEST(FixedSupport, IsTheSameFromTheFirstStepToTheLast) {
  for (const char* execution : {"on", "off"}) {
    for (const char* search : {"top-k", "global"}) {
      PrunedNet net;
      net.first->weight.detach().narrow(1, 0, 4).narrow(0, 0, 4).zero_();  // kept all the same: block 0
      const at::Tensor before = net.first->weight.detach().clone();
      Pruner pruner(net,
                    {.steps = 20, .support = net.support, .search = search, .sparse_execution = execution});
      EXPECT_EQ(pruner.recipe().name, "fixed-support");
      EXPECT_EQ(pruner.plan().layers_pruned(), 1);
      EXPECT_NEAR(pruner.plan().options.sparsity, 2.0 / 3, 1e-12);
      EXPECT_EQ(pruner.algorithm().schedule().phases().size(), 1U);
      train(net, pruner, 20);
      EXPECT_EQ(pruner.finish(), net.support);
      const at::Tensor dropped = before == 0;
      dropped.narrow(1, 0, 4).narrow(0, 0, 4).zero_();
      EXPECT_EQ(net.first->weight.masked_select(dropped).abs().max().item<double>(), 0);
      EXPECT_EQ((net.first->weight == 0).sum().item<int64_t>(), dropped.sum().item<int64_t>());
      EXPECT_FALSE(at::equal(net.first->weight, before));
    }
  }
}

TEST(FixedSupport, WithoutOneTheLargestBlocksAreTaken) {
  PrunedNet net;
  Pruner pruner(
      net, {.method = "fixed-support", .block = {4, 4}, .sparsity = 2.0 / 3, .steps = 5, .min_blocks = 40});
  train(net, pruner, 5);
  EXPECT_EQ(pruner.finish(), net.support);
}

TEST(FixedSupport, RefusesWhatWouldNotKeepIt) {
  PrunedNet net;
  const auto problem = [&](PrunerOptions options) {
    options.steps = 100;
    return test::message_of([&] { Pruner(net, options); });
  };
  EXPECT_NE(problem({.method = "sa++r", .support = net.support}).find("kept by method fixed-support"),
            std::string::npos);
  EXPECT_NE(problem({.support = net.support, .schedule = "acdc"}).find("schedule acdc"), std::string::npos);
  EXPECT_NE(problem({.support = {{"third", net.support.at("first")}}}).find("no layer \"third\""),
            std::string::npos);
  EXPECT_NE(problem({.support = {{"second", net.support.at("first")}}}).find("32x24, but the weight is 24x8"),
            std::string::npos);

  Pruner pruner(net, {.steps = 5, .support = net.support});
  pruner.step();
  const std::map<std::string, at::Tensor> state = pruner.state();
  Blocks other = net.support;
  other["first"] = {other.at("first").grid(), {1, 2, 4}};
  Pruner changed(net, {.steps = 5, .support = other});
  EXPECT_NE(test::message_of([&] { changed.load_state(state, 1); }).find("layer first is another one"),
            std::string::npos);
}

TEST(BlocksByZeros, AreThoseThatWereKept) {
  PrunedNet net;
  EXPECT_EQ(blocks_by_zeros(net, {4, 4}), net.support);
  // Smaller blocks describe the same zeros, larger ones do not.
  EXPECT_EQ(blocks_by_zeros(net, {2, 4}).at("first").kept(), 32);
  EXPECT_EQ(test::message_of([&] {
              blocks_by_zeros(net, {16, 16});
            }),
            "block 16x16: 256 of the 512 zeros of layer first lie in blocks that are not all zero; those of "
            "the network form whole blocks of 4x4");
  EXPECT_TRUE(blocks_by_zeros(*std::make_shared<Net>(), {4, 4}).empty());
}

TEST(BlocksByZeros, CutConvolutionsIntoTheirGroups) {
  struct Conv : torch::nn::Module {
    torch::nn::Conv2d conv{torch::nn::Conv2dOptions(8, 8, 3).groups(2)};
    Conv() { register_module("conv", conv); }
  };
  Conv net;
  const at::NoGradGuard no_grad;
  net.conv->weight.narrow(0, 4, 4).select(2, 1).zero_();  // the middle row of every kernel of group 2
  const Blocks blocks = blocks_by_zeros(net, {4, 4});
  EXPECT_EQ(blocks.at("conv").grid(), (Grid{36, 8, {4, 4}, 2}));
  EXPECT_EQ(blocks.at("conv").kept(), 18 - 3);
}

}  // namespace
}  // namespace hewn
