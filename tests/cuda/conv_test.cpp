// Convolutions on kept blocks, as layers and in whole networks, against dense ones.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hewn/deploy/gpu/network.h"
#include "hewn/deploy/gpu/on_device.h"
#include "hewn/deploy/random_network.h"
#include "hewn/nn/kept/conv.h"
#include "hewn/nn/layers.h"
#include "hewn/nn/slots.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/support.h"
#include "hewn/run/options.h"
#include "hewn/tensor/recording.h"
#include "hewn/train/network.h"
#include "hewn/train/step/step_graph.h"

namespace hewn {
namespace {

struct ConvShape {
  int64_t images, height, width, in, out;
  kernels::ConvGeometry geometry;
};
const std::vector<ConvShape> kConvShapes = {
    {2, 14, 14, 64, 64, {3, 3, 1, 1}},   {1, 7, 7, 128, 96, {3, 3, 1, 1}}, {3, 13, 11, 64, 128, {3, 3, 2, 1}},
    {1, 9, 9, 64, 64, {3, 3, 1, 0}},     {2, 16, 12, 64, 200, {1, 1, 2}},  {3, 10, 10, 256, 128, {1, 1}},
    {2, 15, 15, 64, 64, {3, 3, 1, 2, 2}}};
const std::vector<BlockShape> kConvBlocks = {{32, 32}, {64, 64}, {128, 128}, {64, 128}};
constexpr double kOneBlock = -1;
constexpr double kNetworkRounding = 0.1;  // of dozens of layers in bf16

at::Tensor draw_support(const Grid& grid, double density) {
  const auto keep =
      density == kOneBlock ? int64_t{1} : static_cast<int64_t>(density * static_cast<double>(grid.blocks()));
  return (at::rand({grid.blocks()}, at::kCUDA).argsort().argsort() < keep).to(at::kByte);
}

at::Tensor channels_last(const at::Tensor& images) {
  return images.contiguous(at::MemoryFormat::ChannelsLast);
}

/// The weight with zeros outside of the kept blocks.
at::Tensor on_blocks(const at::Tensor& weight, const at::Tensor& support, const Grid& grid) {
  const at::Tensor single = channels_last(weight.to(at::kFloat));
  return prune::block_scale(single, at::Tensor(), support, prune::layout_on(single, grid));
}

void expect_close(const at::Tensor& got, const at::Tensor& expected, double limit, const std::string& what) {
  const at::Tensor wanted = expected.to(at::kCPU, at::kDouble);
  const double norm = wanted.norm().item<double>();
  const double error = (got.to(at::kCPU, at::kDouble) - wanted).norm().item<double>();
  EXPECT_LE(error, limit * (norm > 0 ? norm : 1)) << what;
}

/// Results and gradients of a layer in double precision, on the CPU.
std::vector<at::Tensor> by_definition(const ConvShape& shape, const at::Tensor& x, const at::Tensor& weight,
                                      const at::Tensor& bias, const at::Tensor& dy) {
  std::vector<at::Tensor> leaves;
  for (const at::Tensor& given : {x, weight, bias}) {
    leaves.push_back(given.detach().to(at::kCPU, at::kDouble).clone().set_requires_grad(true));
  }
  const kernels::ConvGeometry& g = shape.geometry;
  const at::Tensor y = at::conv2d(leaves[0], leaves[1], leaves[2], g.stride, g.padding, g.dilation);
  y.backward(dy.to(at::kCPU, at::kDouble));
  return {y.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
}

/// Whether it ran on kept blocks.
bool check_layer(const ConvShape& s, const BlockShape& block, double density) {
  const at::TensorOptions options = at::TensorOptions(at::kCUDA).dtype(at::kBFloat16);
  const kernels::ConvGeometry& g = s.geometry;
  const Grid grid{s.in * g.taps(), s.out, block};
  const auto kept = std::make_shared<const prune::KeptBlocks>(prune::KeptBlocks{
      grid, draw_support(grid, density), density == kOneBlock ? 1.0 : std::max(density, 0.1)});
  nn::Conv2d layer(torch::nn::Conv2dOptions(s.in, s.out, {g.kernel_height, g.kernel_width})
                       .stride(g.stride)
                       .padding(g.padding)
                       .dilation(g.dilation));
  layer->to(at::kCUDA);
  layer->to(at::kBFloat16);
  layer->weight.set_data(channels_last(
      on_blocks(at::randn(layer->weight.sizes(), at::kCUDA), kept->support, grid).to(at::kBFloat16)));
  layer->run_on_kept(kept);
  at::Tensor x =
      channels_last(at::randn({s.images, s.in, s.height, s.width}, options)).set_requires_grad(true);
  const at::Tensor y = layer->forward(x);
  const at::Tensor dy = at::randn(y.sizes(), options);
  y.backward(dy);
  const auto expected = by_definition(s, x, layer->weight, layer->bias, dy);
  const std::string what =
      hewn::str(s.height, " x ", s.width, " x ", s.in, " -> ", s.out, ", kernel ", g.kernel_height,
                ", stride ", g.stride, ", blocks ", to_string(block), ", density ", density);
  expect_close(y.detach(), expected[0], 5e-3, what);
  expect_close(x.grad(), expected[1], 5e-3, "input gradient, " + what);
  expect_close(on_blocks(layer->weight.grad(), kept->support, grid),
               on_blocks(expected[2].to(at::kCUDA, at::kFloat), kept->support, grid), 1e-2,
               "weight gradient, " + what);
  expect_close(layer->bias.grad(), expected[3], 1e-2, "bias gradient, " + what);
  return nn::takes_kept_conv(grid, g, at::kBFloat16);
}

TEST(KeptConv, LayersEqualTheDenseOnes) {
  at::manual_seed(5);
  int on_kept = 0;
  for (const ConvShape& shape : kConvShapes) {
    for (const BlockShape& block : kConvBlocks) {
      for (const double density : {0.0, kOneBlock, 0.1, 0.5, 1.0})
        on_kept += check_layer(shape, block, density);
    }
  }
  if (kernels::cuda::block_sparse::architecture() != 90) return;
  EXPECT_GT(on_kept, 80);
}

TEST(KeptConv, PreparedOnesFinishInTheSamePass) {
  at::manual_seed(6);
  const at::NoGradGuard no_grad;
  const at::TensorOptions options = at::TensorOptions(at::kCUDA).dtype(at::kBFloat16);
  for (const ConvShape& s : kConvShapes) {
    const kernels::ConvGeometry& g = s.geometry;
    const Grid grid{s.in * g.taps(), s.out, {64, 64}};
    if (!nn::takes_kept_conv(grid, g, at::kBFloat16)) continue;
    const prune::KeptBlocks kept{grid, draw_support(grid, 0.3), 0.3};
    const at::Tensor weight =
        on_blocks(at::randn({s.out, s.in, g.kernel_height, g.kernel_width}, at::kCUDA), kept.support, grid)
            .to(at::kBFloat16);
    const at::Tensor x = at::randn({s.images, s.in, s.height, s.width}, options);
    const at::Tensor bias = at::randn({s.out}, at::kCUDA);
    const at::Tensor plain = at::conv2d(x.cpu().to(at::kDouble), weight.cpu().to(at::kDouble),
                                        bias.cpu().to(at::kDouble), g.stride, g.padding, g.dilation);
    const at::Tensor residual = at::randn(plain.sizes(), options);
    const nn::PreparedConv conv(weight, g, kept);
    const at::Tensor expected = (plain + residual.cpu().to(at::kDouble)).relu();
    expect_close(conv(x, {bias, residual, true}), expected, 5e-3, "with residual and ReLU");
    expect_close(conv(x, {bias}), plain, 5e-3, "with bias");
  }
}

TEST(KeptConv, ARecordedConvolutionFollowsItsSupport) {
  at::manual_seed(7);
  const train::RecordableStream stream(at::kCUDA);
  const at::TensorOptions options = at::TensorOptions(at::kCUDA).dtype(at::kBFloat16);
  const kernels::ConvGeometry geometry{3, 3, 1, 1};
  const Grid grid{9 * 128, 128, {32, 32}};
  const prune::KeptBlocks kept{grid, draw_support(grid, 0.1), 0.1};
  at::Tensor weight = channels_last(at::randn({128, 128, 3, 3}, options)).set_requires_grad(true);
  const at::Tensor out = at::empty({4, 128, 14, 14}, options);
  const at::Tensor gradient = at::empty({4, 128, 14, 14}, options);
  const auto work = [&](const data::Batch& batch) {
    at::Tensor x = batch.input.detach().set_requires_grad(true);
    const at::Tensor y = nn::kept_conv(x, weight, at::Tensor(), geometry, kept);
    y.backward(at::ones_like(y));
    out.copy_(y.detach());
    gradient.copy_(x.grad());
    weight.mutable_grad().reset();
  };
  train::StepGraph graph;
  for (int step = 0; step < 8; ++step) {
    kept.support.copy_(draw_support(grid, 0.1));
    const data::Batch batch{channels_last(at::randn({4, 128, 14, 14}, options)), at::zeros({4}, at::kCUDA)};
    graph.run(0, batch, work);
    const at::Tensor replayed = out.clone();
    const at::Tensor replayed_gradient = gradient.clone();
    work(batch);
    EXPECT_TRUE(at::equal(replayed, out)) << step;
    EXPECT_TRUE(at::equal(replayed_gradient, gradient)) << step;
  }
}

TEST(KeptNetwork, ReplaysAndDenseNetworksGiveTheSame) {
  const at::NoGradGuard no_grad;
  const train::RecordableStream stream(at::kCUDA);
  run::Options options;
  options.prune.block = {32, 32};
  options.prune.min_blocks = 2;
  for (const char* name : {"resnet18", "resnet50", "mlp"}) {
    options.model = name;
    const auto network = deploy::random_network(options, train::signature_for(name, "cifar10"));
    const deploy::FusedNetwork dense(network.data, {at::kCUDA, at::kBFloat16});
    const deploy::FusedNetwork kept(network.data, {at::kCUDA, at::kBFloat16, deploy::KeptLayers::kAll, true});
    EXPECT_FALSE(kept.on_kept_blocks().empty());
    const at::Tensor input = kept.prepare(at::randn({8, 3, 32, 32}));
    const at::Tensor expected = network.model->forward(input.cpu().to(at::kFloat));
    at::Tensor out = kept.run(input).clone();
    expect_close(dense.run(input), expected, kNetworkRounding, name);
    expect_close(out, expected, kNetworkRounding, name);
    const at::Tensor replayed = at::empty_like(out);
    const tensor::Recording recording([&] { replayed.copy_(kept.run(input)); });
    recording.replay();
    EXPECT_TRUE(at::equal(replayed, kept.run(input))) << name;
  }
}

/// Drops most blocks of a network's larger weights.
Blocks prune_at_random(nn::Model& model, const BlockShape& block) {
  const at::NoGradGuard no_grad;
  Blocks blocks;
  for (const prune::WeightSlot& slot : nn::find_slots(model)) {
    const WeightLayout layout = prune::layout_of(slot.leaf, block);
    if (layout.grid.blocks() < 8 || slot.groups != 1) continue;
    const at::Tensor support = draw_support(layout.grid, 0.15).cpu();
    slot.leaf.copy_(prune::block_scale(slot.leaf, at::Tensor(), support, layout));
    blocks[slot.name] = prune::blocks_of(layout.grid, support);
  }
  return blocks;
}

TEST(KeptNetwork, EvaluationsOnKeptBlocksEqualTheDenseOnes) {
  const at::NoGradGuard no_grad;
  for (const char* name : {"resnet18", "vit-s/16"}) {
    run::Options options;
    options.model = name;
    options.depth = 1;
    if (std::string(name) != "resnet18") options.width = 128;
    const auto model = train::build_model(options, {{3, 64, 64}, 10});
    model->eval();
    const Blocks blocks = prune_at_random(*model, {64, 64});
    const at::Tensor input = at::randn({4, 3, 64, 64});
    const at::Tensor expected = model->forward(input);
    const auto ready = deploy::move_trained(model, {3, 64, 64}, blocks, at::kCUDA, train::Precision::kBf16);
    EXPECT_EQ(ready.on_kept_blocks.empty(), kernels::cuda::block_sparse::architecture() != 90) << name;
    expect_close(ready.model->forward(input.to(at::kCUDA)), expected, kNetworkRounding, name);
  }
}

}  // namespace
}  // namespace hewn
