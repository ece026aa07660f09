// What the loop makes of a batch, whatever the way it is worked through.
#include "hewn/train/loop.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/optimiser.h"
#include "hewn/run/observer.h"
#include "hewn/run/options.h"
#include "hewn/run/recipe.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/average.h"
#include "hewn/train/network.h"
#include "hewn/train/open_data.h"
#include "tests/support/temp_folder.h"

namespace hewn::train {
namespace {

/// A network after some steps on a synthetic click log: embeddings, gates and all.
struct Trained {
  std::map<std::string, at::Tensor> weights;

  Trained(const std::string& method, int64_t accumulate, double ema = 0) {
    run::Options options = run::usual_options(std::string("synthetic-ctr"));
    options.widths = {40, 20};
    options.prune.block = {10, 10};
    options.prune.method = method;
    options.prune.min_blocks = 10;
    run::Observer silent;
    data::DataOptions data = data_options(options, at::kCPU, {}, silent);
    data.batch = 64;
    const auto source = data::open_source(options.data, data);
    const auto model = build_model(options, signature_of(source->info()));
    Pruner pruner(*model, run::pruner_options(options, 20));
    Optimiser optimiser(pruner, run::optimiser_options(options));
    const test::TempFolder folder;
    CheckpointStore checkpoints(folder.path(), 1);
    LoopOptions loop;
    loop.step = {make_task(data::Kind::kClicks, 0), accumulate};
    loop.rate = {parse_rate_shape("constant"), 0.01, 0, 0, 20};
    loop.steps = 20;
    loop.batch = 64;
    loop.ema = ema;
    loop.log_every = 20;
    loop.eval_every = loop.checkpoint_every = 1000;
    Loop(LoopParts{*model, *source, pruner, optimiser, checkpoints, silent, dist::alone()}, loop).run();
    pruner.finish();
    for (const auto& [name, tensor] : tensor::state_dict(*model)) weights[name] = tensor.detach().clone();
  }
};

TEST(Loop, ABatchInPartsGivesTheSameStep) {
  for (const char* method : {"sa++r", "powerprop"}) {
    const Trained whole(method, 1);
    const Trained parts(method, 5);  // 64 rows do not divide
    for (const auto& [name, tensor] : whole.weights) {
      EXPECT_TRUE(at::allclose(tensor, parts.weights.at(name), 1e-3, 2e-4)) << method << " " << name;
    }
  }
}

TEST(Loop, TheAverageKeepsDroppedBlocksAtZero) {
  const Trained plain("sa++r", 1);
  const Trained averaged("sa++r", 1, 0.5);
  const at::Tensor& a = plain.weights.at("fc1.weight");
  const at::Tensor& b = averaged.weights.at("fc1.weight");
  EXPECT_TRUE(at::equal(a == 0, b == 0));
  EXPECT_FALSE(at::equal(a, b));
}

TEST(Average, IsWhatItsFormulaSays) {
  at::Tensor weight = at::tensor({1.0, 2.0});
  at::Tensor count = at::tensor({int64_t{3}});
  WeightAverage average({{"w", weight}, {"n", count}}, 0.75);
  weight.fill_(5);
  count.fill_(4);
  average.update();
  EXPECT_TRUE(at::allclose(average.state().at("w"), at::tensor({2.0, 2.75})));
  average.apply();
  EXPECT_TRUE(at::allclose(weight, at::tensor({2.0, 2.75})));
  EXPECT_EQ(count.item<int64_t>(), 4);
  weight.fill_(7);
  average.restart();
  EXPECT_TRUE(at::equal(average.state().at("w"), weight));
}

}  // namespace
}  // namespace hewn::train
