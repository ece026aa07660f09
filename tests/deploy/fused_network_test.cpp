// Networks with sums and ReLUs in the pass of the layer before them compute what their graphs mean.
#include "hewn/deploy/gpu/network.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/deploy/gpu/on_device.h"
#include "hewn/deploy/gpu/paired_conv.h"
#include "hewn/deploy/random_network.h"
#include "hewn/run/options.h"
#include "hewn/train/network.h"
#include "tests/runtime/models.h"

namespace hewn::deploy {
namespace {

TEST(FusedNetwork, ComputesTheGraph) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, graph] : runtime::sample_graphs()) {
    const runtime::ModelData model = runtime::with_weights(graph, {4, 4}, Pattern::kRandom);
    const runtime::Shape& shape = graph.nodes.front().shape;
    for (const int64_t batch : {1, 3}) {
      const std::vector<float> input = runtime::inputs_for(graph, batch, 5);
      const at::Tensor samples = at::tensor(input).view({batch, shape.channels, shape.height, shape.width});
      const at::Tensor before = samples.clone();
      const FusedNetwork network(model, {});
      const at::Tensor got = network.run(network.prepare(samples)).contiguous();
      ASSERT_EQ(got.size(0), batch);
      EXPECT_LT(largest_difference({got.data_ptr<float>(), got.data_ptr<float>() + got.numel()},
                                   runtime::by_definition(model, input, batch)),
                1e-4)
          << name;
      EXPECT_TRUE(samples.equal(before)) << name;
      EXPECT_TRUE(network.on_kept_blocks().empty());
    }
  }
}

run::Options small(const std::string& model) {
  run::Options options;
  options.model = model;
  options.width = 8;
  options.prune.block = {4, 4};
  options.prune.min_blocks = 20;
  return options;
}

TEST(FusedNetwork, ResnetsHaveNoPassesOfTheirOwnForSumsAndRelus) {
  const at::NoGradGuard no_grad;
  for (const char* name : {"resnet18", "resnet20", "resnet50"}) {
    run::Options options = small(name);
    options.stem = "imagenet";
    const RandomNetwork network = random_network(options, train::signature_for(name, "cifar10"));
    for (const FusedStep& step : fuse(network.data.graph)) {
      const runtime::Op op = network.data.graph.nodes[static_cast<size_t>(step.node)].op;
      EXPECT_TRUE(op != runtime::Op::kRelu && op != runtime::Op::kAdd) << name;
    }
    const at::Tensor samples = at::randn({2, 3, 32, 32});
    const at::Tensor expected = network.model->forward(samples);
    for (const bool tuned : {false, true}) {
      const FusedNetwork fused(network.data, {at::kCPU, at::kFloat, KeptLayers::kNone, tuned});
      const double error = (fused.run(fused.prepare(samples)) - expected).abs().max().item<double>();
      EXPECT_LT(error, 1e-4 * expected.abs().max().item<double>()) << name;
    }
  }
}

TEST(FusedNetwork, StridesOverFewChannelsAreSquaresOfPixels) {
  for (const int64_t kernel : {1, 3, 5, 7}) {
    const kernels::ConvGeometry geometry{kernel, kernel, 2, kernel / 2};
    const at::Tensor weight = at::randn({8, 3, kernel, kernel});
    ASSERT_TRUE(PairedConv::takes(weight, geometry));
    const at::Tensor images = at::randn({2, 3, 10, 14}).contiguous(at::MemoryFormat::ChannelsLast);
    const PairedConv paired(weight, geometry);
    const at::Tensor got = at::conv2d(paired.squares(images), paired.weight());
    EXPECT_TRUE(at::allclose(got, at::conv2d(images, weight, {}, 2, kernel / 2), 1e-4, 1e-5)) << kernel;
  }
}

TEST(FusedNetwork, SumsOfWhatOthersSeeStayApart) {
  runtime::Graph graph;
  const int32_t in = graph.input({8, 1, 1});
  const int32_t a = graph.linear("a", in, 8);
  const int32_t twice = graph.add(a, a);  // one operand that is two
  const int32_t b = graph.linear("b", twice, 8);
  const int32_t sum = graph.add(in, b);      // part of b
  const int32_t positive = graph.relu(sum);  // not: the last sum sees it without
  graph.add(positive, sum);
  const std::vector<FusedStep> steps = fuse(graph);
  ASSERT_EQ(steps.size(), 6U);
  EXPECT_EQ(steps[3].residual, 0);
  EXPECT_FALSE(steps[3].relu);
  EXPECT_EQ(count_uses(steps), (std::vector<int32_t>{2, 2, 1, 2, 1, 0}));
}

TEST(FusedNetwork, OnTheCpuAModelIsEvaluatedAsItIs) {
  const auto model = random_network(small("resnet20"), train::signature_for("resnet20", "cifar10")).model;
  const OnDevice ready = move_trained(model, {3, 32, 32}, {}, at::kCPU, train::Precision::kBf16);
  EXPECT_EQ(ready.model, model);
  EXPECT_TRUE(ready.on_kept_blocks.empty());
}

}  // namespace
}  // namespace hewn::deploy
