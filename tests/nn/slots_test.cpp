#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "hewn/nn/model.h"
#include "hewn/prune/pruner.h"

namespace hewn::nn {
namespace {

TEST(Slots, AnyModuleCanBePrunedAndKeepsItsLeaf) {
  torch::nn::Sequential network(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3)),
                                torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 8, 3).groups(8)),
                                torch::nn::Linear(6, 20));
  const auto slots = find_slots(*network);
  ASSERT_EQ(slots.size(), 2U);  // the grouped convolution is left alone
  EXPECT_EQ(slots[0].name, "0");
  EXPECT_EQ(slots[1].name, "2");

  const at::Tensor leaf = network->named_parameters()["2.weight"];
  slots[1].set(leaf * 2);
  EXPECT_TRUE(network->named_parameters()["2.weight"].is_same(leaf));
  const at::Tensor input = at::ones({1, 6});
  network[2]->as<torch::nn::LinearImpl>()->forward(input).sum().backward();
  EXPECT_TRUE(at::equal(leaf.grad(), at::full({20, 6}, 2.0)));
}

TEST(Slots, PrunesAModuleOfTheUsersOwn) {
  torch::nn::Linear layer(64, 64);
  const auto slots = find_slots(*layer);
  ASSERT_EQ(slots.size(), 1U);
  const auto plan = prune::make_plan(weight_shapes(slots), {{8, 8}, 0.5, 10, {"*"}});
  prune::Recipe recipe = prune::find_recipe("magnitude");
  prune::Pruner pruner(slots, plan, recipe, 10);
  pruner.before_forward(9);
  EXPECT_EQ((layer->weight == 0).sum().item<int64_t>(), 2048);
  layer->forward(at::ones({3, 64})).sum().backward();
  EXPECT_EQ((layer->named_parameters()["weight"].grad() == 0).sum().item<int64_t>(), 2048);
}

TEST(Slots, NormalisationIsSeen) {
  const auto make = [](const char* name) { return find_model(name).make({{3, 32, 32}, 10}, {}); };
  EXPECT_FALSE(has_normalisation(*make("mlp")));
  EXPECT_TRUE(has_normalisation(*make("resnet20")));
}

}  // namespace
}  // namespace hewn::nn
