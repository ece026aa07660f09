// --init FILE --keep-support: a pruned network is trained on, and stays as sparse as it was.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/run/config.h"
#include "hewn/run/observer.h"
#include "hewn/save.h"
#include "hewn/train/job.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::train {
namespace {

class KeepSupport : public testing::Test {
 protected:
  KeepSupport() {
    test::write_tiny_mnist(folder_ / "data", 128, 20);
    run::Options pruned = options();
    pruned.prune.method = "magnitude";
    pruned.prune.block = {8, 8};
    pruned.prune.min_blocks = 20;
    train(pruned, pruned_, /*resume=*/false, silent_);
  }

  run::Options options() const {
    run::Options out;
    out.data = "mnist:" + (folder_ / "data").string();
    out.widths = {64, 32};
    out.steps = 12;
    out.batch = 32;
    out.threads = 1;
    return out;
  }
  run::Options tuned(const std::string& init) const {
    run::Options out = options();
    out.init = init;
    out.keep_support = true;
    out.lr = 0.01;
    out.log_every = 1;
    out.checkpoint_every = 4;
    return out;
  }
  run::Folder tune(const run::Options& given, const char* name) {
    const run::Folder run{folder_ / name};
    train(given, run, /*resume=*/false, silent_);
    return run;
  }
  static Blocks blocks(const run::Folder& run) {
    return blocks_in(tensor::load_weights(run.model()), run.model().string());
  }

  test::TempFolder folder_;
  run::Observer silent_;
  run::Folder pruned_{folder_ / "pruned"};
};

TEST_F(KeepSupport, TakesItFromARunAFileOrZeros) {
  const tensor::TensorFile weights = tensor::load_weights(pruned_.model());
  const Blocks support = blocks(pruned_);
  ASSERT_EQ(support.size(), 2U);
  tensor::save_torch(folder_ / "w.pt", weights.tensors);
  const run::Folder from_run = tune(tuned(pruned_.path), "from-run");
  run::Options zeros = tuned(folder_ / "w.pt");
  zeros.prune.block = {8, 8};
  for (const run::Folder& run :
       {from_run, tune(tuned(pruned_.model()), "from-file"), tune(zeros, "from-zeros")}) {
    EXPECT_EQ(blocks(run), support);
    EXPECT_EQ(read_file(run.model()), read_file(from_run.model()));
    EXPECT_FALSE(at::equal(tensor::load_weights(run.model()).tensors.at("fc1.weight"),
                           weights.tensors.at("fc1.weight")));
    const run::Options recorded = run::read_config(run).options;
    EXPECT_EQ(recorded.prune.method, "fixed-support");
    EXPECT_EQ(recorded.prune.block, (BlockShape{8, 8}));
    EXPECT_EQ(recorded.prune.layers, (std::vector<std::string>{"fc1", "fc2"}));
    EXPECT_NEAR(recorded.prune.sparsity, 0.9, 0.01);
  }
}

/// Stops a training as a lost machine would.
struct Stop : run::Observer {
  void on_progress(const run::Progress& progress) override {
    if (progress.step == 7) throw std::runtime_error("stopped");
  }
};

TEST_F(KeepSupport, IsResumedToTheBit) {
  const run::Folder whole = tune(tuned(pruned_.path), "whole");
  const run::Folder cut{folder_ / "cut"};
  Stop stop;
  EXPECT_THROW(train(tuned(pruned_.path), cut, /*resume=*/false, stop), std::runtime_error);
  train(run::resumed_options(cut, {}), cut, /*resume=*/true, silent_);
  EXPECT_EQ(read_file(cut.model()), read_file(whole.model()));
  EXPECT_EQ(blocks(cut), blocks(pruned_));
}

TEST_F(KeepSupport, SkippedLayersBeginAnewAndDense) {
  run::Options some = tuned(pruned_.path);
  some.init_skip = "fc2.*";
  const Blocks kept = blocks(tune(some, "some"));
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept.at("fc1"), blocks(pruned_).at("fc1"));
}

TEST_F(KeepSupport, SaysWhatThereIsNotToKeep) {
  const auto problem = [&](const run::Options& given) {
    return test::message_of([&] { train(given, {folder_ / "none"}, /*resume=*/false, silent_); });
  };
  EXPECT_NE(problem(tuned("")).find("keep-support: expected init"), std::string::npos);
  run::Options other = tuned(pruned_.path);
  other.prune.method = "sa++r";
  EXPECT_NE(problem(other).find("kept by method fixed-support"), std::string::npos);

  tensor::TensorFile weights = tensor::load_weights(pruned_.model());
  tensor::save_torch(folder_ / "w.pt", weights.tensors);
  EXPECT_NE(problem(tuned(folder_ / "w.pt")).find("w.pt: block 16x16: "), std::string::npos);
  for (const char* layer : {"fc1.weight", "fc2.weight"}) weights.tensors.at(layer).fill_(1);
  tensor::save_torch(folder_ / "w.pt", weights.tensors);
  EXPECT_NE(problem(tuned(folder_ / "w.pt")).find("w.pt: has no support to keep"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none"));
}

}  // namespace
}  // namespace hewn::train
