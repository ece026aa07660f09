#include "hewn/train/model_report.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numeric>

#include "hewn/core/error.h"
#include "hewn/nn/slots.h"
#include "hewn/tensor/state_dict.h"

namespace hewn::train {
namespace {

/// An mlp 16-16-10 in 8x8 blocks: fc1 has 2x2 blocks, fc2 2x2 with a ragged second column.
struct Sample {
  std::shared_ptr<nn::Model> model = nn::find_model("mlp").make({{16}, 10}, {{16}, 1});
  prune::Plan plan = prune::make_plan(nn::weight_shapes(nn::find_slots(*model)), {{8, 8}, 0.5, 1, {"*"}});

  ModelReport report(const std::map<std::string, std::vector<int64_t>>& kept) const {
    std::map<std::string, at::Tensor> tensors = tensor::state_dict(*model);
    for (const auto& [layer, blocks] : kept) {
      at::Tensor weight = at::zeros_like(tensors.at(layer + ".weight"));
      for (const int64_t b : blocks) {
        weight.narrow(1, b / 2 * 8, 8).slice(0, b % 2 * 8, b % 2 * 8 + 8).fill_(1);
      }
      tensors[layer + ".weight"] = weight;
    }
    Blocks blocks;
    for (const prune::LayerPlan& layer : plan.layers) {
      if (kept.contains(layer.name)) blocks[layer.name] = {layer.grid, kept.at(layer.name)};
    }
    return measured_report(*model, plan, tensors, blocks);
  }
};

TEST(Inspection, CountsZerosAndBytes) {
  const ModelReport report = Sample().report({{"fc1", {0, 3}}, {"fc2", {0, 1, 2}}});
  EXPECT_EQ(report.blocks_kept(), 5);
  EXPECT_DOUBLE_EQ(report.layers[0].realised_sparsity, 0.5);
  EXPECT_DOUBLE_EQ(report.layers[1].realised_sparsity, 16.0 / 160);
  EXPECT_EQ(report.layers[0].bytes_sparse, 4 * (128 + 2 + 3));
  EXPECT_TRUE(report.warnings.empty());
}

TEST(Inspection, SaysWhichOutputsAreLost) {
  const ModelReport report = Sample().report({{"fc1", {0, 1, 2, 3}}, {"fc2", {0, 2}}});
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_NE(report.warnings[0].find("2 of the network's 10 outputs"), std::string::npos)
      << report.warnings[0];
}

TEST(Inspection, SaysWhereTheNetworkIsCut) {
  const ModelReport report = Sample().report({{"fc1", {0}}, {"fc2", {2, 3}}});
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_NE(report.warnings[0].find("cut in two"), std::string::npos) << report.warnings[0];
}

TEST(Inspection, NoticesWeightsWhereThereShouldBeNone) {
  const Sample sample;
  const Blocks one = {{"fc1", {sample.plan.layers[0].grid, {0}}}};
  EXPECT_THROW(measured_report(*sample.model, sample.plan, tensor::state_dict(*sample.model), one), Error);
  EXPECT_THROW(sample.report({{"fc1", {4}}}), std::exception);
}

}  // namespace
}  // namespace hewn::train
