// Layers that run on their kept blocks only, against the same layers with zeros between the blocks.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "hewn/nn/layers.h"
#include "hewn/nn/slots.h"
#include "hewn/nn/sparse_conv.h"
#include "hewn/nn/sparse_linear.h"
#include "hewn/prune/gate.h"

namespace hewn::nn {
namespace {

struct Gradients {
  at::Tensor output, input, weight, gate, bias;
};

void expect_close(const at::Tensor& got, const at::Tensor& expected, const char* what) {
  ASSERT_EQ(got.defined(), expected.defined()) << what;
  if (!expected.defined()) return;
  const double scale = std::max(1e-3, expected.abs().max().item<double>());
  EXPECT_LT((got - expected).abs().max().item<double>() / scale, 2e-5) << what;
}

/// Output and gradients of sum(output * random), run sparse or dense.
template <class Layer>
Gradients run(Layer layer, const at::Tensor& input, const at::Tensor& gate_values, const at::Tensor& support,
              BlockShape block, bool sparse) {
  const prune::WeightSlot slot = find_slots(*layer).front();
  const WeightLayout layout = prune::layout_of(slot.leaf, block);
  const at::Tensor x = input.detach().clone().set_requires_grad(true);
  const at::Tensor gate = gate_values.defined() ? gate_values.clone().set_requires_grad(true) : at::Tensor();
  const auto blocks = std::make_shared<prune::SparseWeight>(slot.leaf, layout, support);
  if (sparse) {
    blocks->gate = gate;
    slot.set_sparse(blocks);
  } else {
    slot.set(prune::block_scale(slot.leaf, gate, support, layout));
  }
  const at::Tensor y = layer->forward(x);
  torch::manual_seed(3);
  (y * at::randn(y.sizes())).sum().backward();
  at::Tensor leaf = slot.leaf;
  Gradients out{y.detach(), x.grad(), leaf.grad(), gate.defined() ? gate.grad() : at::Tensor(),
                layer->bias.defined() ? layer->bias.grad() : at::Tensor()};
  if (sparse) {
    EXPECT_FALSE(leaf.grad().defined()) << "a dense gradient was made";
    out.weight = at::zeros_like(leaf);
    kernels::scatter_blocks(blocks->pattern(), layout, blocks->grad().data_ptr<float>(),
                            out.weight.data_ptr<float>(), 0, layout.grid.col_blocks());
  }
  leaf.mutable_grad() = at::Tensor();
  if (layer->bias.defined()) layer->bias.mutable_grad() = at::Tensor();
  slot.set(slot.leaf);
  return out;
}

template <class Layer>
void compare(Layer layer, const at::Tensor& input, BlockShape block, bool gated) {
  const prune::WeightSlot slot = find_slots(*layer).front();
  const Grid grid = prune::layout_of(slot.leaf, block).grid;
  at::Tensor support = at::randint(0, 3, {grid.blocks()}).eq(0).to(at::kByte);
  support[grid.blocks() - 1] = 1;
  const at::Tensor gate = gated ? at::randn({grid.blocks()}) : at::Tensor();
  const Gradients dense = run(layer, input, gate, support, block, false);
  const Gradients sparse = run(layer, input, gate, support, block, true);
  expect_close(sparse.output, dense.output, "output");
  expect_close(sparse.input, dense.input, "input gradient");
  expect_close(sparse.weight, dense.weight, "weight gradient");
  expect_close(sparse.gate, dense.gate, "gate gradient");
  expect_close(sparse.bias, dense.bias, "bias gradient");
}

TEST(SparseLayers, LinearEqualsTheDenseLayerWithZeros) {
  torch::manual_seed(1);
  for (const bool gated : {false, true}) {
    for (const BlockShape& block : {BlockShape{1, 1}, {4, 4}, {5, 3}, {16, 16}}) {
      for (const int64_t batch : {1, 7, 70}) {
        compare(Linear(37, 50), at::randn({batch, 37}), block, gated);
        compare(Linear(torch::nn::LinearOptions(64, 64).bias(false)), at::randn({batch, 64}), block, gated);
      }
    }
  }
  compare(Linear(37, 50), at::randn({3, 4, 37}), {4, 4}, true);
}

TEST(SparseLayers, ConvolutionEqualsTheDenseLayerWithZeros) {
  torch::manual_seed(2);
  using Options = torch::nn::Conv2dOptions;
  const std::vector<Options> all = {Options(6, 9, 3).padding(1), Options(8, 8, 1).stride(2).bias(false),
                                    Options(4, 12, 3).stride(2).padding(1), Options(3, 5, {2, 3}).dilation(2),
                                    Options(3, 8, 7).stride(2).padding(3)};
  for (const Options& options : all) {
    for (const BlockShape& block : {BlockShape{1, 1}, {4, 4}, {5, 3}, {16, 16}}) {
      Conv2d layer(options);
      const at::Tensor images = at::randn({33, options.in_channels(), 9, 8});
      compare(layer, images, block, true);
      compare(layer, images.contiguous(at::MemoryFormat::ChannelsLast), block, false);
      compare(layer, images.transpose(2, 3), block, false);  // in neither memory order
    }
  }
}

TEST(SparseLayers, WhatIsSetLastCounts) {
  torch::manual_seed(4);
  Linear layer(16, 16);
  const prune::WeightSlot slot = find_slots(*layer).front();
  const at::Tensor x = at::randn({2, 16});
  const at::Tensor dense = layer->forward(x);
  const at::Tensor none = at::zeros({16}, at::kByte);
  slot.set_sparse(
      std::make_shared<prune::SparseWeight>(slot.leaf, prune::layout_of(slot.leaf, {4, 4}), none));
  expect_close(layer->forward(x), layer->bias.expand({2, 16}), "without blocks only the bias is left");
  slot.set(slot.leaf);
  expect_close(layer->forward(x), dense, "dense again");
}

TEST(SparseLayers, GroupsAndUnknownGeometryStayDense) {
  Conv2d grouped(torch::nn::Conv2dOptions(8, 8, 3).groups(2));
  ASSERT_EQ(find_slots(*grouped).size(), 1U);
  EXPECT_FALSE(find_slots(*grouped).front().set_sparse);
  Conv2d uneven(torch::nn::Conv2dOptions(8, 8, 3).stride({1, 2}));
  ASSERT_EQ(find_slots(*uneven).size(), 1U);
  EXPECT_FALSE(find_slots(*uneven).front().set_sparse);
  torch::nn::Linear plain(8, 8);
  EXPECT_FALSE(find_slots(*plain).front().set_sparse);
}

int64_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// Threads that a piece of work started. OpenMP keeps a pool for each thread that asks for one, so a new
/// thread shows what its own work needs, whatever ran before and however busy the machine is.
int64_t threads_started_by(const std::function<void()>& work) {
  int64_t started = 0;
  static const int64_t usual = [] {
    at::set_num_threads(2);  // LibTorch starts other pools of its own here
    return threads_of_this_process();
  }();
  std::thread([&] {
    at::set_num_threads(2);
    const int64_t before = usual + 1;
    // The pool of the last call may still be going.
    for (int i = 0; i < 1000 && threads_of_this_process() > before; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    work();
    started = threads_of_this_process() - before;
  }).join();
  return started;
}

TEST(SparseLayers, ProductsRunOnAllThreads) {
  Linear layer(512, 512);
  const prune::WeightSlot slot = find_slots(*layer).front();
  const WeightLayout layout = prune::layout_of(slot.leaf, {16, 16});
  SparseLinear sparse(
      std::make_shared<prune::SparseWeight>(slot.leaf, layout, at::ones({layout.grid.blocks()}, at::kByte)));
  const at::Tensor x = at::randn({512, 512});
  const at::Tensor values = sparse.weight().values();
  EXPECT_EQ(threads_started_by([] {}), 0);
  EXPECT_EQ(threads_started_by([&] { sparse.weight().values(); }), 1);
  EXPECT_EQ(threads_started_by([&] { sparse.product(x, values, at::Tensor()); }), 1);
  EXPECT_EQ(threads_started_by([&] { sparse.grad_input(x, x, values); }), 1);
  EXPECT_EQ(threads_started_by([&] { sparse.grad_weight(x, x); }), 1);
}

}  // namespace
}  // namespace hewn::nn
