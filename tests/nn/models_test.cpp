#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hewn/core/error.h"
#include "hewn/nn/model.h"
#include "hewn/nn/slots.h"

namespace hewn::nn {
namespace {

int64_t parameters(const Model& model) {
  int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

TEST(Models, EveryModelRunsAndGivesItsOutputs) {
  const at::NoGradGuard no_grad;
  for (const ModelRow& row : models()) {
    Signature signature = row.usual;
    if (signature.input.back() > 64) signature.input = {3, 96, 96};
    const auto model = row.make(signature, {});
    std::vector<int64_t> shape = {2};
    shape.insert(shape.end(), signature.input.begin(), signature.input.end());
    std::vector<int64_t> outputs = {2, signature.outputs};
    if (signature.takes == Takes::kText) outputs.insert(outputs.begin() + 1, signature.input[0]);
    EXPECT_EQ(model->forward(at::zeros(shape, model->input_type())).sizes(), outputs) << row.name;
    EXPECT_EQ(has_normalisation(*model), row.normalised) << row.name;
  }
}

TEST(Models, ResnetsHaveTorchvisionsNamesAndSizes) {
  const ModelRow resnet50 = find_model("resnet50");
  const auto model = resnet50.make(resnet50.usual, {});
  EXPECT_EQ(parameters(*model), 25557032);
  const auto named = model->named_parameters();
  EXPECT_EQ(named["layer4.2.conv3.weight"].sizes(), (std::vector<int64_t>{2048, 512, 1, 1}));
  EXPECT_EQ(named["layer1.0.downsample.0.weight"].sizes(), (std::vector<int64_t>{256, 64, 1, 1}));
  EXPECT_TRUE(model->named_buffers().contains("layer1.0.downsample.1.running_var"));
  EXPECT_EQ(named["fc.bias"].numel(), 1000);
  const ModelRow resnet18 = find_model("resnet18");
  EXPECT_EQ(parameters(*resnet18.make(resnet18.usual, {})), 11689512);
}

TEST(Models, CifarResnetsHaveTheirKnownSizes) {
  const std::map<std::string, int64_t> sizes = {
      {"resnet20", 269722}, {"resnet32", 464154}, {"resnet44", 658586}, {"resnet56", 853018}};
  for (const auto& [name, size] : sizes) {
    const ModelRow row = find_model(name);
    EXPECT_EQ(parameters(*row.make(row.usual, {})), size) << name;
  }
}

TEST(Models, TheVisionTransformerHasTimmsNamesAndSize) {
  const ModelRow row = find_model("vit-s/16");
  const auto model = row.make(row.usual, {});
  EXPECT_EQ(parameters(*model), 22050664);
  const auto named = model->named_parameters();
  EXPECT_EQ(named["pos_embed"].sizes(), (std::vector<int64_t>{1, 197, 384}));
  EXPECT_EQ(named["blocks.11.attn.qkv.weight"].sizes(), (std::vector<int64_t>{1152, 384}));
  EXPECT_EQ(named["patch_embed.proj.weight"].sizes(), (std::vector<int64_t>{384, 3, 16, 16}));
  EXPECT_TRUE(has_normalisation(*model));
  EXPECT_EQ(find_slots(*model).size(), 4U * 12 + 2);
  EXPECT_THROW(row.make({{3, 100, 100}, 10}, {}), Error);
}

TEST(Models, ResnetPlansMatchThePaper) {
  const ModelRow row = find_model("resnet50");
  const auto model = row.make(row.usual, {});
  const auto shapes = weight_shapes(find_slots(*model));
  ASSERT_EQ(shapes.size(), 54U);
  const auto plan = [&](int64_t b, double s) { return prune::make_plan(shapes, {{b, b}, s, 100, {"*"}}); };
  EXPECT_EQ(plan(8, 0.9).layers_pruned(), 53);
  EXPECT_EQ(plan(16, 0.9).layers_pruned(), 46);
  EXPECT_EQ(plan(32, 0.9).layers_pruned(), 35);
  EXPECT_EQ(plan(64, 0.9).layers_pruned(), 18);
  const std::vector<double> nominal = {0.70, 0.80, 0.90, 0.95};
  // In percent, as the paper prints them.
  const std::vector<long> at32 = {68, 78, 88, 92};
  const std::vector<long> at64 = {58, 66, 74, 79};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::lround(100 * plan(32, nominal[i]).realised_sparsity()), at32[i]);
    EXPECT_EQ(std::lround(100 * plan(64, nominal[i]).realised_sparsity()), at64[i]);
  }
  EXPECT_NEAR(plan(32, 0.95).realised_sparsity(), 0.9242, 5e-5);
  EXPECT_NEAR(plan(64, 0.95).realised_sparsity(), 0.7858, 5e-5);
}

TEST(Models, UnknownNamesAndWrongInputsAreRejected) {
  EXPECT_THROW(find_model("resnet51"), Error);
  EXPECT_THROW(find_model("resnet18").make({{39}, 1}, {}), Error);
}

}  // namespace
}  // namespace hewn::nn
