// A loop of one's own around hewn::Pruner trains what hewn train trains, to the bit.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/files.h"
#include "hewn/data/source.h"
#include "hewn/optimiser.h"
#include "hewn/pruner.h"
#include "hewn/run/folder.h"
#include "hewn/run/observer.h"
#include "hewn/run/options.h"
#include "hewn/save.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/job.h"
#include "hewn/train/learning_rate.h"
#include "hewn/train/network.h"
#include "hewn/train/open_data.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::train {
namespace {

TEST(Facade, TrainsTheDefaultMlpToTheBitsOfHewnTrain) {
  constexpr int64_t kSteps = 60;
  const test::TempFolder folder;
  test::write_tiny_mnist(folder / "data", 512, 20);
  run::Options options;
  options.data = "mnist:" + (folder / "data").string();
  options.steps = kSteps;
  options.threads = 1;
  options.prune.sparse_execution = "on";
  const run::Folder run{folder / "run"};
  run::Observer silent;
  train(options, run, /*resume=*/false, silent);

  const auto source = data::open_source(options.data, data_options(options, at::kCPU, {}, silent));
  const auto net = build_model(options, signature_of(source->info()));
  Pruner pruner(
      *net,
      {.method = "sa++r", .block = {16, 16}, .sparsity = 0.9, .steps = kSteps, .sparse_execution = "on"});
  Optimiser optimiser(pruner, {.weight_decay = 5e-4});
  const LearningRate rate{parse_rate_shape("cosine"), 0.1, 0, 0.05, kSteps};
  for (int64_t step = 0; step < kSteps; ++step) {
    const auto [x, y] = source->train_batch(step / source->train_batches(), step % source->train_batches());
    pruner.step();
    optimiser.zero_grad();
    at::cross_entropy_loss(net->forward(x), y).backward();
    optimiser.step(rate.at(step));
  }
  save(*net, pruner.finish(), folder / "own.safetensors", {{"hewn.model", "mlp"}, {"hewn.method", "sa++r"}});
  EXPECT_EQ(read_file(folder / "own.safetensors"), read_file(run.model()));
}

}  // namespace
}  // namespace hewn::train
