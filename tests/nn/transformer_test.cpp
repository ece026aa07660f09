// Transformers: what a position sees, sizes and names.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/nn/model.h"
#include "hewn/nn/slots.h"
#include "tests/support/message.h"

namespace hewn::nn {
namespace {

std::shared_ptr<Model> reader(int64_t symbols, const ModelOptions& options = {.width = 8}) {
  at::manual_seed(3);
  auto model = find_model("char-transformer").make({{20}, symbols, Takes::kText}, options);
  for (at::Tensor& parameter : model->parameters()) {
    const at::NoGradGuard no_grad;
    parameter.add_(0.2 * at::randn_like(parameter));  // a new network says nearly the same of all texts
  }
  return model;
}

TEST(CharTransformer, LooksBackAndNotAhead) {
  const at::NoGradGuard no_grad;
  const auto model = reader(30);
  const at::Tensor text = at::randint(30, {3, 20}, at::kLong);
  const at::Tensor before = model->forward(text);
  EXPECT_EQ(before.sizes(), (std::vector<int64_t>{3, 20, 30}));
  for (const int64_t place : {0, 7, 19}) {
    at::Tensor other = text.clone();
    other.select(1, place).add_(1).remainder_(30);
    const at::Tensor difference = (model->forward(other) - before).abs().amax({0, 2});
    EXPECT_EQ(difference.narrow(0, 0, place).sum().item<float>(), 0) << place;
    EXPECT_GT(difference.narrow(0, place, 20 - place).min().item<float>(), 1e-4) << place;
  }
}

TEST(CharTransformer, TakesShorterTextsToo) {
  const at::NoGradGuard no_grad;
  const auto model = reader(30);
  const at::Tensor text = at::randint(30, {2, 20}, at::kLong);
  EXPECT_TRUE(
      at::allclose(model->forward(text.narrow(1, 0, 5)), model->forward(text).narrow(1, 0, 5), 1e-4, 1e-5));
}

/// The same by loops over what a position may see.
TEST(CharTransformer, AttentionIsTheUsualFormula) {
  const at::NoGradGuard no_grad;
  const auto model = reader(7, {.width = 4, .depth = 1});
  const auto p = model->named_parameters();
  const auto linear = [&](const std::string& name, const at::Tensor& x) {
    return x.matmul(p[name + ".weight"].t()) + p[name + ".bias"];
  };
  const auto norm = [&](const std::string& name, const at::Tensor& x) {
    return at::layer_norm(x, {16}, p[name + ".weight"], p[name + ".bias"], 1e-6);
  };
  const at::Tensor text = at::randint(7, {9}, at::kLong);
  at::Tensor x = p["tok_embed"].index_select(0, text) + p["pos_embed"][0].narrow(0, 0, 9);
  const at::Tensor qkv = linear("blocks.0.attn.qkv", norm("blocks.0.norm1", x));
  at::Tensor seen = at::zeros({9, 16});
  for (int64_t t = 0; t < 9; ++t) {
    for (int64_t h = 0; h < 4; ++h) {
      const at::Tensor query = qkv[t].narrow(0, 4 * h, 4);
      const at::Tensor keys = qkv.narrow(0, 0, t + 1).narrow(1, 16 + 4 * h, 4);
      const at::Tensor values = qkv.narrow(0, 0, t + 1).narrow(1, 32 + 4 * h, 4);
      seen[t].narrow(0, 4 * h, 4).copy_(at::softmax(keys.mv(query) / 2, 0).matmul(values));
    }
  }
  x = x + linear("blocks.0.attn.proj", seen);
  x = x + linear("blocks.0.mlp.fc2", at::gelu(linear("blocks.0.mlp.fc1", norm("blocks.0.norm2", x))));
  const at::Tensor expected = linear("head", norm("norm", x));
  EXPECT_TRUE(at::allclose(model->forward(text.unsqueeze(0))[0], expected, 1e-4, 1e-5));
}

TEST(CharTransformer, HasNamesSizesAndSlots) {
  const auto model = find_model("char-transformer").make({{64}, 89, Takes::kText}, {.width = 32});
  const auto named = model->named_parameters();
  EXPECT_EQ(named["tok_embed"].sizes(), (std::vector<int64_t>{89, 128}));
  EXPECT_EQ(named["pos_embed"].sizes(), (std::vector<int64_t>{1, 64, 128}));
  EXPECT_EQ(named["blocks.1.attn.qkv.weight"].sizes(), (std::vector<int64_t>{384, 128}));
  EXPECT_EQ(named["head.weight"].sizes(), (std::vector<int64_t>{89, 128}));
  EXPECT_TRUE(model->named_buffers().is_empty());
  std::vector<std::string> slots;
  for (const auto& slot : find_slots(*model)) slots.push_back(slot.name);
  EXPECT_EQ(slots, (std::vector<std::string>{"blocks.0.attn.qkv", "blocks.0.attn.proj", "blocks.0.mlp.fc1",
                                             "blocks.0.mlp.fc2", "blocks.1.attn.qkv", "blocks.1.attn.proj",
                                             "blocks.1.mlp.fc1", "blocks.1.mlp.fc2", "head"}));
  for (const at::Tensor& parameter : model->parameters()) EXPECT_FALSE(is_embedding(*model, parameter));
  const at::Tensor loss = model->forward(at::zeros({2, 64}, at::kLong)).sum();
  loss.backward();
  EXPECT_FALSE(named["tok_embed"].grad().is_sparse());
  EXPECT_EQ(find_model("char-transformer")
                .make({{8}, 9, Takes::kText}, {.width = 8, .depth = 5})
                ->named_parameters()
                .size(),
            2U + 5 * 12 + 4);
  EXPECT_EQ(test::message_of([] {
              find_model("char-transformer").make({{39}, 1, Takes::kClicks}, {});
            }),
            "model char-transformer: expected text as input");
}

TEST(Vit, PatchesAndDepthFollowImagesAndOptions) {
  const at::NoGradGuard no_grad;
  const auto tokens = [](int64_t side, const ModelOptions& options) {
    const auto model = find_model("vit-s/16").make({{3, side, side}, 10}, options);
    EXPECT_EQ(model->forward(at::zeros({1, 3, side, side})).sizes(), (std::vector<int64_t>{1, 10}));
    return model->named_parameters()["pos_embed"].size(1) - 1;
  };
  EXPECT_EQ(tokens(32, {.width = 4, .depth = 1}), 64);
  EXPECT_EQ(tokens(28, {.width = 4, .depth = 1}), 49);
  EXPECT_EQ(tokens(96, {.width = 4, .depth = 1}), 36);
  EXPECT_EQ(tokens(32, {.width = 4, .depth = 1, .patch = 8}), 16);
  const auto model = find_model("vit-s/16").make({{3, 32, 32}, 10}, {.width = 4, .depth = 7});
  EXPECT_EQ(find_slots(*model).size(), 4U * 7 + 2);
  EXPECT_EQ(test::message_of([] {
              find_model("vit-s/16").make({{3, 32, 32}, 10}, {.width = 4, .patch = 5});
            }),
            "patch: model vit-s/16 expects images whose sides are multiples of 5, got 32 x 32");
}

}  // namespace
}  // namespace hewn::nn
