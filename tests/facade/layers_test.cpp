// The kinds of layers that hewn::Pruner prunes in any module.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/embedding.h>

#include "hewn/nn/layers.h"
#include "hewn/optimiser.h"
#include "hewn/pruner.h"
#include "hewn/save.h"
#include "hewn/tensor/state_dict.h"
#include "tests/support/temp_folder.h"

namespace hewn {
namespace {

TEST(Facade, PrunesThePackedProjectionOfAnAttention) {
  at::manual_seed(3);
  struct Attention : torch::nn::Module {
    torch::nn::MultiheadAttention attention{torch::nn::MultiheadAttentionOptions(32, 4)};
    Attention() { register_module("attention", attention); }
  } net;
  Pruner pruner(net, {.method = "sa++", .block = {8, 8}, .sparsity = 0.5, .steps = 60, .min_blocks = 16});
  Optimiser optimiser(pruner, {.kind = "adamw", .lr = 0.01});
  for (int64_t i = 0; i < 60; ++i) {
    const at::Tensor x = at::randn({5, 2, 32});
    pruner.step();
    optimiser.zero_grad();
    (std::get<0>(net.attention->forward(x, x, x)) - x).square().mean().backward();
    optimiser.step();
  }
  const Blocks blocks = pruner.finish();
  EXPECT_EQ(blocks.at("attention.in_proj").grid(), (Grid{32, 96, {8, 8}, 3}));
  EXPECT_EQ(blocks.at("attention.in_proj").kept(), 24);
  EXPECT_TRUE(net.attention->in_proj_weight.is_same(net.named_parameters()["attention.in_proj_weight"]));
  EXPECT_EQ((net.attention->in_proj_weight == 0).sum().item<int64_t>(), 24 * 64);
  const test::TempFolder folder;
  save(net, blocks, folder / "net.safetensors");
  Attention other;
  EXPECT_EQ(load(other, folder / "net.safetensors"), blocks);
  EXPECT_TRUE(at::equal(other.attention->in_proj_weight, net.attention->in_proj_weight));
}

TEST(Facade, GroupsOfAConvolutionShareNoBlock) {
  struct Conv : torch::nn::Module {
    nn::Conv2d conv{torch::nn::Conv2dOptions(12, 12, 3).groups(2)};
    Conv() { register_module("conv", conv); }
  } net;
  Pruner pruner(net, {.method = "magnitude", .block = {4, 4}, .sparsity = 0.5, .steps = 10, .min_blocks = 4});
  Optimiser optimiser(pruner, {.lr = 0.01});
  for (int64_t i = 0; i < 10; ++i) {
    pruner.step();
    optimiser.zero_grad();
    net.conv(at::ones({1, 12, 5, 5})).sum().backward();
    optimiser.step();
  }
  const LayerBlocks kept = pruner.finish().at("conv");
  EXPECT_EQ(kept.grid(), (Grid{54, 12, {4, 4}, 2}));  // 14 rows of blocks; 4 and 2 columns a group
  EXPECT_EQ(kept.kept(), 28);
  check_zeros("conv", net.conv->weight, kept);
}

TEST(Facade, PrunesTablesAndConvolutionsOfOneDimension) {
  struct Text : torch::nn::Module {
    torch::nn::Embedding words{40, 16};
    torch::nn::Conv1d conv{torch::nn::Conv1dOptions(16, 24, 3).padding(1)};
    Text() { register_module("words", words), register_module("conv", conv); }
    at::Tensor forward(const at::Tensor& x) { return conv(words(x).transpose(1, 2)).amax(2); }
  } net;
  at::manual_seed(6);
  Pruner pruner(net, {.method = "sa++r",
                      .block = {4, 4},
                      .sparsity = 0.75,
                      .steps = 60,
                      .min_blocks = 10,
                      .embeddings = true});
  Optimiser optimiser(pruner, {.kind = "adam", .lr = 0.01});
  for (int64_t i = 0; i < 60; ++i) {
    const at::Tensor x = at::randint(40, {8, 10}, at::kLong);
    pruner.step();
    optimiser.zero_grad();
    at::cross_entropy_loss(net.forward(x), x.select(1, 0) % 24).backward();
    optimiser.step();
  }
  const Blocks blocks = pruner.finish();
  EXPECT_EQ(blocks.at("words").grid(), (Grid{16, 40, {4, 4}}));
  EXPECT_EQ(blocks.at("conv").grid(), (Grid{48, 24, {4, 4}}));
  for (const char* layer : {"words", "conv"}) {
    EXPECT_EQ(blocks.at(layer).kept(), blocks_to_keep(blocks.at(layer).grid().blocks(), 0.75));
    check_zeros(layer, net.named_parameters()[std::string(layer) + ".weight"], blocks.at(layer));
  }
}

}  // namespace
}  // namespace hewn
