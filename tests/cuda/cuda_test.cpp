// The CUDA kernels against the CPU's, and a pruner that chooses the same blocks on both.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/random.h"
#include "hewn/kernels/cuda/cuda.h"
#include "hewn/nn/slots.h"
#include "hewn/optimiser.h"
#include "hewn/prune/gate.h"
#include "hewn/prune/pruner.h"
#include "hewn/prune/score/attention_group.h"
#include "hewn/run/options.h"
#include "hewn/run/recipe.h"
#include "hewn/tensor/clip.h"
#include "hewn/tensor/device.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/tensor/stream.h"
#include "hewn/train/network.h"
#include "hewn/train/step/step.h"
#include "tests/prune/together.h"

namespace hewn {
namespace {

struct Case {
  std::vector<int64_t> shape;
  BlockShape block;
  bool channels_last = false;
  int64_t groups = 1;
};

const std::vector<Case> kCases = {{{7, 5}, {2, 3}},
                                  {{1, 1}, {1, 1}},
                                  {{100, 390}, {20, 20}},
                                  {{64, 64}, {64, 64}},
                                  {{33, 17}, {1, 1}},
                                  {{7, 4, 3, 3}, {5, 3}},
                                  {{7, 4, 3, 3}, {5, 3}, true},
                                  {{65, 32, 3, 3}, {16, 16}},
                                  {{65, 32, 1, 1}, {16, 16}},
                                  {{66, 20, 3, 3}, {16, 16}, false, 3},
                                  {{96, 32}, {20, 20}, false, 3}};

at::Tensor weight_of(const Case& c) {
  const at::Tensor weight = at::randn(c.shape);
  return c.channels_last ? weight.contiguous(at::MemoryFormat::ChannelsLast) : weight;
}

void expect_near(const at::Tensor& a, const at::Tensor& b) {
  EXPECT_TRUE(at::allclose(a.cpu(), b.cpu(), 1e-5, 1e-5)) << (a.cpu() - b.cpu()).abs().max().item<float>();
}

TEST(Cuda, ScoresThatSeeInputsEqualTheCpu) {
  for (const Case& c : kCases) {
    if (c.groups > 1) continue;  // layers with groups do not show their inputs
    const at::Tensor leaf = weight_of(c);
    const at::Tensor leaf2 = leaf.cuda();
    const prune::ScoredWeight weight{leaf, prune::layout_of(leaf, c.block, c.groups), 1};
    const prune::ScoredWeight weight2{leaf2, prune::layout_of(leaf2, c.block, c.groups), 1};
    const auto score = prune::make_score("reconstruction", weight, {});
    const auto score2 = prune::make_score("reconstruction", weight2, {});
    for (int step = 0; step < 3; ++step) {
      const at::Tensor rows = at::randn({20, weight.layout.grid.rows});
      score->see(rows);
      score2->see(rows.cuda());
    }
    expect_near(score->importance(weight), score2->importance(weight2));
  }
}

TEST(Cuda, GateAndNormsEqualTheCpu) {
  ASSERT_TRUE(kernels::cuda::built());
  for (const Case& c : kCases) {
    for (const int pattern : {0, 1, 2, 3}) {  // none, random, empty, full
      at::Tensor weight = weight_of(c).set_requires_grad(true);
      const WeightLayout layout = prune::layout_of(weight, c.block, c.groups);
      at::Tensor gate = at::rand({layout.grid.blocks()}).set_requires_grad(true);
      at::Tensor active;
      if (pattern == 1) active = (at::rand({layout.grid.blocks()}) > 0.5).to(at::kByte);
      if (pattern >= 2) active = at::full({layout.grid.blocks()}, pattern - 2, at::kByte);
      at::Tensor weight2 = weight.detach().cuda().set_requires_grad(true);
      at::Tensor gate2 = gate.detach().cuda().set_requires_grad(true);
      const at::Tensor target = at::randn(c.shape);
      const at::Tensor out = prune::block_scale(weight, gate, active, layout);
      const at::Tensor out2 =
          prune::block_scale(weight2, gate2, active.defined() ? active.cuda() : active, layout);
      ((out * target).sum() + prune::block_norms(weight, layout).square().sum()).backward();
      ((out2 * target.cuda()).sum() + prune::block_norms(weight2, layout).square().sum()).backward();
      expect_near(out, out2);
      expect_near(weight.grad(), weight2.grad());
      expect_near(gate.grad(), gate2.grad());
    }
  }
}

TEST(Cuda, GatedWeightsInBf16AreTheRoundedOnes) {
  for (const Case& c : kCases) {
    std::vector<at::Tensor> grads;
    std::vector<at::Tensor> outs;
    const at::Tensor values = weight_of(c).cuda();
    const WeightLayout layout = prune::layout_of(values, c.block, c.groups);
    const at::Tensor gates = at::rand({layout.grid.blocks()}, at::kCUDA);
    const at::Tensor active = (at::rand({layout.grid.blocks()}, at::kCUDA) > 0.3).to(at::kByte);
    const at::Tensor target = at::randn(c.shape, at::kCUDA).to(at::kBFloat16);
    for (const bool bf16 : {false, true}) {
      at::Tensor weight = values.detach().clone().set_requires_grad(true);
      at::Tensor gate = gates.clone().set_requires_grad(true);
      const at::Tensor out = prune::block_scale(weight, gate, active, layout, bf16).to(at::kBFloat16);
      out.backward(target);
      outs.push_back(out);
      grads.push_back(at::cat({weight.grad().flatten(), gate.grad()}));
    }
    EXPECT_TRUE(at::equal(outs[0], outs[1]));
    EXPECT_TRUE(at::equal(grads[0], grads[1]));
  }
}

TEST(Cuda, AttentionEqualsTheCpu) {
  at::manual_seed(11);
  for (const int64_t blocks : {1, 2, 31, 1024, 1025, 9216, 200000}) {
    for (const bool clip : {true, false}) {
      std::vector<at::Tensor> results;
      const at::Tensor logits = at::randn({blocks}) * 2;
      const at::Tensor target = at::randn({blocks});
      for (const at::Device device : {at::Device(at::kCPU), at::Device(at::kCUDA)}) {
        const at::Tensor leaf = at::zeros({blocks, 1}, device);
        const prune::ScoredWeight weight{leaf, prune::layout_of(leaf, {1, 1}), (blocks + 9) / 10};
        const auto score = prune::make_score("attention", weight, {.clip = {.on = clip}});
        at::Tensor learned = score->parameters()[0].tensor;
        learned.detach().copy_(logits);
        const at::Tensor gate = score->gate(weight);
        gate.backward(target.to(device));
        results.push_back(
            at::stack({gate.detach(), learned.grad(), score->importance(weight) + score->level(weight)})
                .cpu());
      }
      expect_near(results[0], results[1]);
    }
  }
}

/// Layers of one network, whose attention is computed together, give what each gives by itself: forward and
/// backward, where passes run through some of them only, and after logits have changed.
TEST(Cuda, AttentionOfManyLayersIsThatOfEach) {
  at::manual_seed(13);
  const auto group = std::make_shared<prune::AttentionGroup>();
  std::vector<prune::ScoredWeight> weights;
  std::vector<std::unique_ptr<prune::Score>> together;
  std::vector<std::unique_ptr<prune::Score>> apart;
  for (int64_t i = 0; i < 70; ++i) {  // more than one launch takes
    const at::Tensor leaf = at::zeros({1 + 37 * i, 1}, at::kCUDA);
    weights.push_back({leaf, prune::layout_of(leaf, {1, 1}), 1 + i});
    for (auto* scores : {&together, &apart})
      scores->push_back(prune::make_score("attention", weights.back(), {}));
    together.back()->join(group);
  }
  // Every pass begins elsewhere and leaves some out; gradients add up.
  for (size_t pass = 0; pass < 4; ++pass) {
    for (size_t i = pass; i < weights.size(); i += 1 + pass) {
      const at::Tensor target = at::randn({weights[i].blocks()}, at::kCUDA);
      const at::Tensor one = together[i]->gate(weights[i]);
      const at::Tensor other = apart[i]->gate(weights[i]);
      EXPECT_TRUE(at::equal(one, other)) << "pass " << pass << ", layer " << i;
      one.backward(target);
      other.backward(target);
      at::Tensor mine = together[i]->parameters()[0].tensor;
      at::Tensor its = apart[i]->parameters()[0].tensor;
      EXPECT_TRUE(at::equal(mine.grad(), its.grad())) << "pass " << pass << ", layer " << i;
      const at::NoGradGuard no_grad;
      mine.sub_(mine.grad());
      its.sub_(its.grad());
    }
  }
}

TEST(Cuda, LayersGatedTogetherGiveWhatEachGives) {
  for (const char* score : {"attention", "gated-norm", "identity-mask", "magnitude"}) {
    for (const bool bf16 : {false, true}) prune::expect_together_is_apart(at::kCUDA, score, bf16);
  }
}

TEST(Cuda, ClippingEqualsTheCpu) {
  at::manual_seed(16);
  for (const double size : {1e-3, 3.0}) {  // below the limit, and above
    std::vector<at::Tensor> cpu;
    std::vector<at::Tensor> gpu;
    for (int64_t i = 0; i < 300; ++i) {  // more than one launch takes
      cpu.push_back(at::randn({i % 7 == 0 ? 40000 + i : i}) * (size / 100));
      gpu.push_back(cpu.back().cuda());
    }
    expect_near(tensor::clip_factor(cpu, 1.0), tensor::clip_factor(gpu, 1.0));
    tensor::clip(cpu, 1.0);
    tensor::clip(gpu, 1.0);
    for (size_t i = 0; i < cpu.size(); ++i) expect_near(cpu[i], gpu[i]);
  }
}

TEST(Cuda, DroppedBlocksOfAllLayersAreRestored) {
  at::manual_seed(14);
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> held;
  std::vector<at::Tensor> supports;
  std::vector<at::Tensor> expected;
  std::vector<kernels::cuda::RestoreItem> items;
  for (int round = 0; round < 12; ++round) {  // more layers than one launch takes
    for (const Case& c : kCases) {
      weights.push_back(weight_of(c).to(at::kCUDA));
      const WeightLayout layout = prune::layout_of(weights.back(), c.block, c.groups);
      held.push_back(at::randn_like(weights.back()));
      supports.push_back(at::randint(0, 2, {layout.grid.blocks()}, weights.back().options()).to(at::kByte));
      expected.push_back(prune::block_scale(weights.back(), {}, supports.back(), layout) +
                         prune::block_scale(held.back(), {}, 1 - supports.back(), layout));
      items.push_back({weights.back().data_ptr<float>(), held.back().data_ptr<float>(),
                       supports.back().data_ptr<uint8_t>(), layout});
    }
  }
  kernels::cuda::restore_blocks(items, tensor::current_stream(weights[0]));
  for (size_t i = 0; i < weights.size(); ++i) EXPECT_TRUE(at::equal(weights[i], expected[i])) << i;
}

TEST(Cuda, GatedNormsEqualTheCpu) {
  at::manual_seed(12);
  for (const Case& c : kCases) {
    const at::Tensor leaf = weight_of(c);
    leaf.flatten().narrow(0, 0, 1).zero_();
    std::vector<at::Tensor> results;
    at::Tensor logits;
    for (const at::Device device : {at::Device(at::kCPU), at::Device(at::kCUDA)}) {
      const at::Tensor here = leaf.to(device);
      const prune::ScoredWeight weight{here, prune::layout_of(here, c.block, c.groups), 1};
      const auto score = prune::make_score("gated-norm", weight, {});
      at::Tensor learned = score->parameters()[0].tensor;
      if (!logits.defined()) logits = at::randn({weight.blocks()});
      learned.detach().copy_(logits);
      results.push_back(score->importance(weight));
    }
    expect_near(results[0], results[1]);
  }
}

TEST(Cuda, TheBestBlocksAreThoseOfTheCpu) {
  for (const int64_t blocks : {1, 2, 255, 1024, 1025, 9216, 91000}) {
    for (const bool ties : {false, true}) {
      at::Tensor importance = at::randn({blocks});
      if (ties) importance = (importance * 2).round() / 2 - 0.0;  // few values, both zeros
      at::Tensor within;
      for (int64_t keep : {blocks, (blocks + 1) / 2, (blocks + 9) / 10, int64_t{1}, int64_t{0}}) {
        const at::Tensor cpu = prune::top_k(importance, keep, within);
        const at::Tensor gpu =
            prune::top_k(importance.cuda(), keep, within.defined() ? within.cuda() : within);
        ASSERT_TRUE(at::equal(cpu, gpu.cpu())) << blocks << " blocks, keep " << keep << " ties " << ties;
        if (keep > 0) within = cpu;
      }
    }
  }
}

/// A small network of convolutions in training, its pruner through all phases.
std::map<std::string, at::Tensor> trained(bool graphs, train::Precision precision, const char* method,
                                          bool* recorded, bool taught = false) {
  run::Options options;
  options.model = "resnet20";
  options.prune.method = method;
  options.prune.block = {4, 4};
  options.prune.min_blocks = 4;
  const at::Device device = tensor::find_device("cuda");
  const train::RecordableStream stream(device);
  const auto model = train::build_model(options, {{3, 32, 32}, 10});
  train::move_to(*model, device, false);
  Pruner pruner(*model, run::pruner_options(options, 120));
  Optimiser optimiser(pruner, run::optimiser_options(options));
  std::shared_ptr<train::Teacher> teacher;
  if (taught) {
    options.seed = 1;
    teacher = std::make_shared<train::Teacher>(
        train::Teacher{"", train::build_model(options, {{3, 32, 32}, 10}), 0.5, 4});
    train::move_to(*teacher->model, device, false);
    teacher->model->eval();
    for (at::Tensor& parameter : teacher->model->parameters()) parameter.set_requires_grad(false);
  }
  train::Step step({*model, pruner, optimiser, dist::alone()},
                   {train::make_task(data::Kind::kImages, 0), 1, precision, graphs, teacher});
  *recorded = step.records();
  model->train();
  at::Tensor losses = at::zeros({120}, device);
  for (int64_t i = 0; i < 120; ++i) {
    at::manual_seed(static_cast<uint64_t>(i));
    // The last batch is a smaller one.
    const data::Batch batch = {at::randn({i < 119 ? 16 : 9, 3, 32, 32}).to(device),
                               at::randint(10, {i < 119 ? 16 : 9}, at::kLong).to(device)};
    pruner.advance();
    step.run(batch, 0.05 * (1 - static_cast<double>(i) / 120));
    losses[i].copy_(step.loss());
  }
  pruner.finish();
  std::map<std::string, at::Tensor> out;
  for (const auto& [name, tensor] : tensor::state_dict(*model)) out[name] = tensor.detach().cpu();
  out["losses"] = losses.cpu();
  return out;
}

TEST(Cuda, ReplayedStepsEqualLaunchedOnes) {
  struct Setting {
    const char* method;
    bool taught = false;
  };
  for (const auto& [method, taught] :
       {Setting{"sa++"}, Setting{"sa++r"}, Setting{"sa++r", true}, Setting{"acdc"}, Setting{"dense"}}) {
    for (const auto precision : {train::Precision::kFp32, train::Precision::kBf16}) {
      bool recorded = false;
      const auto launched = trained(false, precision, method, &recorded, taught);
      EXPECT_FALSE(recorded);
      const auto replayed = trained(true, precision, method, &recorded, taught);
      EXPECT_TRUE(recorded);
      for (const auto& [name, tensor] : launched) {
        EXPECT_TRUE(at::equal(tensor, replayed.at(name)))
            << method << " " << name << " "
            << (tensor.to(at::kFloat) - replayed.at(name).to(at::kFloat)).abs().max().item<float>();
      }
    }
  }
}

TEST(Cuda, UpdatesEqualTheCpuAndFreezeDroppedBlocks) {
  for (const char* name : {"sgd", "adam", "adamw"}) {
    for (const Case& c : kCases) {
      prune::Pruner::Layer layer, layer2;
      layer.weight.leaf = weight_of(c);
      layer.weight.layout = prune::layout_of(layer.weight.leaf, c.block, c.groups);
      layer.support = (at::rand({layer.weight.blocks()}) > 0.5).to(at::kByte);
      layer2.weight = {layer.weight.leaf.cuda(), layer.weight.layout, 1};
      layer2.support = layer.support.cuda();
      const at::Tensor before = layer2.weight.leaf.clone();
      Parameter a{"w", layer.weight.leaf, 2, 0.1, 0.01, false, &layer};
      Parameter b{"w", layer2.weight.leaf, 2, 0.1, 0.01, false, &layer2};
      const OptimiserOptions options{.kind = name, .clip_norm = 1};
      Optimiser on_cpu({a}, options), on_gpu({b}, options);
      for (int step = 0; step < 3; ++step) {
        const at::Tensor grad = at::randn(c.shape);
        a.tensor.mutable_grad() = at::empty_like(a.tensor).copy_(grad);
        b.tensor.mutable_grad() = at::empty_like(b.tensor).copy_(grad);
        on_cpu.step(0.01);
        on_gpu.step(0.01);
      }
      expect_near(a.tensor, b.tensor);
      const at::Tensor mask =
          prune::block_scale(at::ones_like(b.tensor), {}, layer2.support, layer.weight.layout);
      EXPECT_TRUE(at::equal(b.tensor.masked_select(mask == 0), before.masked_select(mask == 0)));
    }
  }
}

TEST(Cuda, ThePrunerChoosesTheSameBlocks) {
  const at::Device device = tensor::find_device("cuda");
  for (const char* budget : {"uniform", "global", "bytes=0.25"}) {
    std::vector<at::Tensor> leaves = {at::randn({64, 64}), at::randn({64, 64}).to(device)};
    std::vector<std::unique_ptr<prune::Pruner>> pruners;
    for (at::Tensor& leaf : leaves) {
      leaf.set_requires_grad(true);
      prune::Recipe recipe = prune::find_recipe("sa++");
      recipe.schedule = "sa++/imagenet";
      recipe.budget = prune::parse_budget(budget);
      pruners.push_back(std::make_unique<prune::Pruner>(
          std::vector<prune::WeightSlot>{{"w", leaf, [](const at::Tensor&) {}}},
          prune::make_plan({{"w", {64, 64}, {64, 64, {}}}},
                           {.block = {4, 4}, .sparsity = 0.8, .budget = recipe.budget}),
          recipe, 300));
    }
    for (int64_t step = 0; step < 300; ++step) {
      const at::Tensor change = at::randint(-3, 4, {256}).to(at::kFloat) * 0.25;  // exact, with many ties
      for (const auto& pruner : pruners) {
        at::Tensor logits = pruner->layers()[0].score->parameters()[0].tensor;
        logits.detach().add_(change.to(logits.device()));
        pruner->advance(step);
      }
      const at::Tensor& a = pruners[0]->layers()[0].support;
      const at::Tensor& b = pruners[1]->layers()[0].support;
      ASSERT_EQ(a.defined(), b.defined());
      ASSERT_TRUE(!a.defined() || at::equal(a, b.cpu())) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace hewn
