#include "hewn/nn/trace.h"
#include "hewn/nn/slots.h"

#include <gtest/gtest.h>

namespace hewn::nn {
namespace {

TEST(Trace, FindsTheImageThatReachesEachConvolution) {
  const auto model = find_model("resnet50").make({{3, 128, 128}, 7}, {});
  const std::vector<LayerUse> uses = trace_layers(*model, {3, 128, 128});
  EXPECT_EQ(uses.size(), find_slots(*model).size());
  EXPECT_TRUE(model->is_training());
  for (const LayerUse& use : uses) {
    if (use.name == "layer2.0.conv2") {
      EXPECT_TRUE(use.convolution);
      EXPECT_EQ(use.height, 32);
      EXPECT_EQ(use.width, 32);
      EXPECT_EQ(use.geometry, (kernels::ConvGeometry{3, 3, 2, 1, 1}));
    }
  }
  EXPECT_FALSE(uses.back().convolution);
  EXPECT_EQ(uses.back().in, 2048);
  EXPECT_EQ(uses.back().out, 7);
}

TEST(Trace, LinearLayersSeeOneRowPerSample) {
  const auto model = find_model("mlp").make({{1, 5, 4}, 3}, {{8, 6}, 64});
  const std::vector<LayerUse> uses = trace_layers(*model, {1, 5, 4});
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_EQ(uses[0].name, "fc1");
  EXPECT_EQ(uses[0].in, 20);
  EXPECT_EQ(uses[1].in, 8);
  for (const LayerUse& use : uses) EXPECT_EQ(use.rows, 1);
}

}  // namespace
}  // namespace hewn::nn
