#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include "hewn/nn/layers.h"
#include "hewn/nn/model.h"
#include "hewn/nn/slots.h"
#include "hewn/prune/pruner.h"

namespace hewn::nn {
namespace {

TEST(Slots, AnyModuleCanBePrunedAndKeepsItsLeaf) {
  torch::nn::Sequential network(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3)),
                                torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 8, 3).groups(8)),
                                torch::nn::Linear(6, 20));
  const auto slots = find_slots(*network);
  ASSERT_EQ(slots.size(), 3U);
  EXPECT_EQ(slots[0].name, "0");
  EXPECT_EQ(slots[1].groups, 8);
  EXPECT_EQ(slots[2].name, "2");

  const at::Tensor leaf = network->named_parameters()["2.weight"];
  slots[2].set(leaf * 2);
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
  pruner.advance(9);
  pruner.show();
  EXPECT_EQ((layer->weight == 0).sum().item<int64_t>(), 2048);
  layer->forward(at::ones({3, 64})).sum().backward();
  EXPECT_EQ((layer->named_parameters()["weight"].grad() == 0).sum().item<int64_t>(), 2048);
}

TEST(Slots, ConvolutionsAttentionAndTablesHaveThem) {
  struct Net : torch::nn::Module {
    torch::nn::Conv1d conv{torch::nn::Conv1dOptions(6, 8, 3).groups(2)};
    torch::nn::MultiheadAttention packed{torch::nn::MultiheadAttentionOptions(8, 2)};
    torch::nn::MultiheadAttention apart{torch::nn::MultiheadAttentionOptions(8, 2).kdim(4).vdim(4)};
    torch::nn::Embedding table{10, 8};
    torch::nn::Embedding lazy{torch::nn::EmbeddingOptions(10, 8).sparse(true)};
    Net() {
      register_module("conv", conv);
      register_module("packed", packed);
      register_module("apart", apart);
      register_module("table", table);
      register_module("lazy", lazy);
    }
  } net;  // not in a shared pointer
  std::vector<std::string> names;
  for (const auto& slot : find_slots(net)) names.push_back(slot.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv", "packed.in_proj", "packed.out_proj", "apart.q_proj",
                                             "apart.k_proj", "apart.v_proj", "apart.out_proj"}));
  const auto slots = find_slots(net, {.embeddings = true});
  ASSERT_EQ(slots.size(), 8U);
  EXPECT_EQ(slots.back().name, "table");  // the lazy one has no gradient for blocks
  const auto shapes = weight_shapes(slots);
  EXPECT_EQ(shapes[0].grid, (Grid{9, 8, {}, 2}));
  EXPECT_EQ(shapes[1].grid, (Grid{8, 24, {}, 3}));

  // What the attention computes with is what was set.
  const at::Tensor x = at::randn({3, 1, 8});
  const auto attend = [&] { return std::get<0>(net.packed->forward(x, x, x)); };
  slots[1].set(at::zeros({24, 8}));
  const at::Tensor off = attend();
  EXPECT_TRUE(at::allclose(off, net.packed->out_proj->bias.expand({3, 1, 8})));
  slots[1].set(slots[1].leaf);
  EXPECT_FALSE(at::allclose(off, attend()));
}

TEST(Slots, ATiedWeightIsOneSlotThatReachesBothLayers) {
  torch::nn::Linear shared(8, 8);
  torch::nn::Sequential twice(shared, torch::nn::ReLU(), shared);
  const auto slots = find_slots(*twice);
  ASSERT_EQ(slots.size(), 1U);
  slots[0].set(at::zeros({8, 8}));
  EXPECT_TRUE(at::allclose(twice->forward(at::ones({1, 8})), shared->bias.expand({1, 8})));

  Linear first(8, 8), second(8, 8);
  second->weight = first->weight;
  torch::nn::Sequential tied(first, second);
  const auto both = find_slots(*tied);
  ASSERT_EQ(both.size(), 1U);
  EXPECT_FALSE(both[0].set_sparse);
  both[0].set(at::zeros({8, 8}));
  EXPECT_TRUE(at::allclose(tied->forward(at::ones({1, 8})), second->bias.expand({1, 8})));
}

TEST(Slots, NormalisationIsSeen) {
  const auto make = [](const char* name) { return find_model(name).make({{3, 32, 32}, 10}, {}); };
  EXPECT_FALSE(has_normalisation(*make("mlp")));
  EXPECT_TRUE(has_normalisation(*make("resnet20")));
}

}  // namespace
}  // namespace hewn::nn
