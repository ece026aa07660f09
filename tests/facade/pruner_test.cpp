// What a user does with hewn::Pruner, and what happens to one who does it wrong.
#include "hewn/pruner.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/embedding.h>
#include <torch/optim/sgd.h>

#include "hewn/core/error.h"
#include "hewn/export.h"
#include "hewn/nn/layers.h"
#include "hewn/optimiser.h"
#include "hewn/pruner_options.h"
#include "hewn/save.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/torch_optim.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn {
namespace {

constexpr int64_t kSteps = 300;

/// y = x W with 12 of 64 blocks of W planted.
struct Planted {
  LayerBlocks blocks{{64, 64, {8, 8}}, {}};
  at::Tensor weight = at::zeros({64, 64});

  Planted() {
    at::manual_seed(7);
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < 64; i += 5) kept.push_back(i);
    blocks = {blocks.grid(), kept};
    for (const int64_t block : kept) {
      weight.narrow(1, block / 8 * 8, 8).narrow(0, block % 8 * 8, 8).normal_(0, 0.5);
    }
  }
  at::Tensor loss(const at::Tensor& output, const at::Tensor& x) const {
    return (output - at::linear(x, weight)).square().sum(1).mean();
  }
  int64_t found(const LayerBlocks& kept) const {
    std::vector<int64_t> both;
    std::set_intersection(kept.indices().begin(), kept.indices().end(), blocks.indices().begin(),
                          blocks.indices().end(), std::back_inserter(both));
    return static_cast<int64_t>(both.size());
  }
};

struct Net : torch::nn::Module {
  nn::Linear fc{64, 64};
  Net() { register_module("fc", fc); }
};

PrunerOptions options() {
  return {.method = "sa++r", .block = {8, 8}, .sparsity = 0.79, .steps = kSteps, .min_blocks = 10};
}

TEST(Facade, FindsPlantedBlocks) {
  const Planted planted;
  Net net;
  Pruner pruner(net, options());
  Optimiser optimiser(pruner, {.lr = 0.05});
  for (int64_t i = 0; i < kSteps; ++i) {
    const at::Tensor x = at::randn({64, 64});
    pruner.step();
    optimiser.zero_grad();
    planted.loss(net.fc(x), x).backward();
    optimiser.step();
  }
  const Blocks blocks = pruner.finish();
  EXPECT_EQ(blocks.at("fc").kept(), 13);
  EXPECT_GE(planted.found(blocks.at("fc")), 12);
  const at::Tensor x = at::randn({64, 64});
  EXPECT_LT(planted.loss(net.fc(x), x).item<double>(),
            0.02 * planted.loss(at::zeros({64, 64}), x).item<double>());
}

/// Trains with an optimiser of torch::optim.
template <class Optim>
void train_with(Pruner& pruner, Net& net, Optim& optimiser, const Planted& planted, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    const at::Tensor x = at::randn({64, 64});
    pruner.step(optimiser);
    optimiser.zero_grad();
    (planted.loss(net.fc(x), x) / 64).backward();
    pruner.after_backward();
    optimiser.step();
  }
}

TEST(Facade, TorchOptimGivesTheSameNetwork) {
  const Planted planted;
  std::vector<at::Tensor> weights;
  for (const char* method : {"sa++r", "sa++"}) {  // drop rules zero and mask
    for (const bool ours : {true, false}) {
      at::manual_seed(1);
      Net net;
      PrunerOptions o = options();
      o.method = method;
      Pruner pruner(net, o);
      at::manual_seed(2);
      if (ours) {
        Optimiser optimiser(pruner, {.lr = 0.05, .weight_decay = 1e-3});
        for (int64_t i = 0; i < kSteps; ++i) {
          const at::Tensor x = at::randn({64, 64});
          pruner.step();
          optimiser.zero_grad();
          (planted.loss(net.fc(x), x) / 64).backward();
          optimiser.step();
        }
      } else {
        const auto sgd = torch::optim::SGDOptions(0.05).momentum(0.9).nesterov(true).weight_decay(1e-3);
        torch::optim::SGD optimiser(param_groups(pruner, sgd), sgd);
        train_with(pruner, net, optimiser, planted, kSteps);
      }
      pruner.finish();
      weights.push_back(net.fc->weight.detach().clone());
    }
    const at::Tensor& a = weights[weights.size() - 2];
    EXPECT_TRUE(at::equal(a == 0, weights.back() == 0)) << method;
    EXPECT_TRUE(at::allclose(a, weights.back(), 1e-3, 1e-4)) << method << (a - weights.back()).abs().max();
  }
}

TEST(Facade, LogitsLeftOutOfTheOptimiserAreNoticed) {
  const Planted planted;
  Net net;
  Pruner pruner(net, options());
  torch::optim::SGD optimiser(net.parameters(), 0.02);
  const std::string message = test::message_of([&] { train_with(pruner, net, optimiser, planted, kSteps); });
  EXPECT_NE(message.find("hewn::Optimiser(pruner"), std::string::npos) << message;
  EXPECT_EQ(pruner.steps_begun(), 30);  // the end of the first DENSE phase

  PrunerOptions untrained = options();
  untrained.logit_lr = 0;  // on purpose
  Net other;
  Pruner quiet(other, untrained);
  const torch::optim::SGDOptions plain(0.02);
  torch::optim::SGD sgd(param_groups(quiet, plain), plain);
  train_with(quiet, other, sgd, planted, kSteps);
}

TEST(Facade, GivenUpLeavesTheModuleAsItWas) {
  Net net;
  const at::Tensor leaf = net.fc->weight;
  {
    Pruner pruner(net, options());
    Optimiser optimiser(pruner, {.lr = 0.01});
    pruner.step();
    EXPECT_FALSE(net.fc->weight.is_same(leaf));
  }
  EXPECT_TRUE(net.fc->weight.is_same(leaf));
}

TEST(Facade, SaysWhatDoesNotFit) {
  Net net;
  const auto message = [&](const PrunerOptions& o) {
    return test::message_of([&] { Pruner(net, o).step(); });
  };
  PrunerOptions o = options();
  o.steps = 0;
  EXPECT_EQ(message(o), "steps: expected how many training steps there will be, got 0");
  o.steps = 3;
  EXPECT_NE(message(o).find("too few"), std::string::npos);
  o = options();
  o.method = "sa+++";
  EXPECT_NE(message(o).find("did you mean sa++"), std::string::npos);
  o = options();
  o.layers = {"fc9"};
  EXPECT_NE(message(o).find("no layer is called \"fc9\""), std::string::npos);
  o = options();
  o.except = {"fc"};
  EXPECT_NE(message(o).find("nothing would be pruned"), std::string::npos);
  o = options();
  o.sparsity = 1;
  EXPECT_EQ(message(o), "sparsity: expected a number in [0, 1), got 1");

  Pruner early(net, options());
  early.step();
  EXPECT_NE(test::message_of([&] { early.finish(); }).find("not sparse yet"), std::string::npos);
  EXPECT_NE(test::message_of([&] { Optimiser late(early, {.kind = "adam"}); }).find("before anything else"),
            std::string::npos);
}

TEST(Facade, FilesThatDoNotFitLeaveTheModuleAsItWas) {
  const test::TempFolder folder;
  at::manual_seed(4);
  Net net;
  const LayerBlocks some({64, 64, {8, 8}}, {1, 2});
  EXPECT_NE(test::message_of([&] {
              save(net, {{"fc", some}}, folder / "a.safetensors");
            }).find("not zero"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / "a.safetensors"));
  save(net, {}, folder / "b.safetensors");
  struct Smaller : torch::nn::Module {
    nn::Linear fc{64, 32};
    Smaller() { register_module("fc", fc); }
  } smaller;
  const at::Tensor before = smaller.fc->weight.detach().clone();
  const std::string message = test::message_of([&] { load(smaller, folder / "b.safetensors"); });
  EXPECT_NE(message.find("b.safetensors"), std::string::npos);
  EXPECT_TRUE(at::equal(smaller.fc->weight, before));
  // A file that lists other blocks than its weights have.
  tensor::TensorFile file{{{"hewn.blocks", to_text({{"fc", some}})}}, tensor::state_dict(net)};
  tensor::save_tensors(folder / "c.safetensors", file, false);
  EXPECT_NE(test::message_of([&] { load(net, folder / "c.safetensors"); }).find("not zero"),
            std::string::npos);
}

TEST(Facade, LoadsAStateDictOfPyTorch) {
  const test::TempFolder folder;
  at::manual_seed(4);
  Net net;
  tensor::save_torch(folder / "a.pt", tensor::state_dict(net));
  Net other;
  EXPECT_TRUE(load(other, folder / "a.pt").empty());
  const auto expected = tensor::state_dict(net);
  for (const auto& [name, tensor] : tensor::state_dict(other)) {
    EXPECT_TRUE(at::equal(tensor, expected.at(name))) << name;
  }
}

TEST(Facade, AGraphThatDoesNotFitItsWeightsIsRefused) {
  struct Conv : torch::nn::Module {
    nn::Conv2d conv{torch::nn::Conv2dOptions(12, 12, 3).groups(2)};
    Conv() { register_module("conv", conv); }
  } net;
  runtime::Graph graph;
  graph.conv2d("conv", graph.input({12, 8, 8}), 12, {3, 3, 1, 0, 1});
  EXPECT_EQ(test::message_of([&] { export_model(net, graph, {}); }),
            "tensor conv.weight is [12, 6, 3, 3], but the graph asks for [12, 12, 3, 3]");
  runtime::Graph wide;
  wide.linear("conv", wide.input({108, 1, 1}), 12);
  EXPECT_NE(test::message_of([&] { export_model(net, wide, {}); }).find("asks for [12, 108]"),
            std::string::npos);
}

TEST(Facade, AResumedPrunerGoesOnAsIfNothingHadHappened) {
  const Planted planted;
  std::vector<at::Tensor> ends;
  for (const int64_t stop : {kSteps, int64_t{20}, int64_t{140}}) {
    at::manual_seed(5);
    Net first;
    Pruner before(first, options());
    Optimiser with(before, {.lr = 0.02});
    const auto run = [&](Net& net, Pruner& pruner, Optimiser& optimiser, int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        at::manual_seed(static_cast<uint64_t>(100 + i));
        const at::Tensor x = at::randn({64, 64});
        pruner.step();
        optimiser.zero_grad();
        planted.loss(net.fc(x), x).backward();
        optimiser.step();
      }
    };
    run(first, before, with, 0, stop);
    Net second;
    Pruner after(second, options());
    Optimiser again(after, {.lr = 0.02});
    {
      const at::NoGradGuard no_grad;
      for (const auto& [name, tensor] : tensor::state_dict(first))
        tensor::state_dict(second).at(name).copy_(tensor);
      for (const auto& [name, tensor] : with.state()) again.state().at(name).copy_(tensor);
    }
    std::map<std::string, at::Tensor> state;
    for (const auto& [name, tensor] : before.state()) state[name] = tensor.detach().clone();
    after.load_state(state, stop);
    again.set_steps_since_reset(with.steps_since_reset());
    run(second, after, again, stop, kSteps);
    after.finish();
    ends.push_back(second.fc->weight.detach().clone());
  }
  EXPECT_TRUE(at::equal(ends[0], ends[1]));
  EXPECT_TRUE(at::equal(ends[0], ends[2]));
}

TEST(Facade, AStateOfAnotherScheduleIsRefused) {
  Net first;
  PrunerOptions trained = options();
  trained.trained = true;
  Pruner before(first, trained);
  before.step();
  const auto state = before.state();
  Net second;
  Pruner after(second, options());
  EXPECT_NE(test::message_of([&] { after.load_state(state, 1); }).find("a state of another schedule"),
            std::string::npos);
  Pruner again(second, trained);
  again.load_state(state, 1);
}

// The form for a trained network begins to prune at once; whoever gives another schedule gets that schedule.
TEST(Facade, AScheduleThatIsGivenBeginsAsTheMethodSays) {
  PrunerOptions trained = options();
  trained.trained = true;
  EXPECT_EQ(recipe_of(trained, {.trained = true}).schedule_options.dense_fraction, 0);
  for (const char* schedule : {"sa++", "one-shot", "acdc"}) {
    trained.schedule = schedule;
    const prune::Recipe given = recipe_of(trained, {.trained = true});
    PrunerOptions plain = options();
    plain.schedule = schedule;
    EXPECT_EQ(given.schedule_options.dense_fraction, recipe_of(plain, {}).schedule_options.dense_fraction)
        << schedule;
    check(trained);
  }
  trained.dense_fraction = 0.25;
  EXPECT_EQ(recipe_of(trained, {.trained = true}).schedule_options.dense_fraction, 0.25);
}

}  // namespace
}  // namespace hewn
