// --budget ms=... --costs FILE: what is kept costs no more than allowed, and a run keeps the costs it began
// with.
#include "hewn/run/costs.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/json_file.h"
#include "hewn/run/config.h"
#include "hewn/run/observer.h"
#include "hewn/save.h"
#include "hewn/train/job.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::train {
namespace {

/// 784 -> 64 -> 32 -> 10 in blocks of 8: 784, 32 and 8 blocks, of which the first two layers are pruned.
class Timed : public testing::Test {
 protected:
  Timed() {
    test::write_tiny_mnist(folder_ / "data", 128, 20);
    write(folder_ / "costs.json", 0.01);
  }

  static void write(const std::filesystem::path& path, double block_ms) {
    run::Costs costs;
    costs.model = "mlp";
    costs.input = {1, 28, 28};
    costs.block = {8, 8};
    costs.batch = costs.threads = 1;
    costs.machine = "made up";
    costs.layers = {
        {"fc1", 6, 0.25, block_ms, 784, 1}, {"fc2", 0.5, 0.125, 0.002, 32, 1}, {"fc3", 0.25, 0.1, 0.1, 8, 1}};
    write_json(path, run::to_json(costs));
  }
  run::Options options() const {
    run::Options out;
    out.data = "mnist:" + (folder_ / "data").string();
    out.widths = {64, 32};
    out.steps = 24;
    out.batch = 32;
    out.threads = 1;
    out.log_every = 1;
    out.checkpoint_every = 4;
    out.prune.block = {8, 8};
    out.prune.min_blocks = 20;
    out.prune.method = "acdc";
    out.prune.budget = "ms=2";
    out.costs = (folder_ / "costs.json").string();
    return out;
  }
  static Blocks blocks(const run::Folder& run) {
    return blocks_in(tensor::load_weights(run.model()), run.model().string());
  }
  std::string problem(const run::Options& given) {
    return test::message_of([&] { train(given, {folder_ / "none"}, /*resume=*/false, silent_); });
  }

  test::TempFolder folder_;
  run::Observer silent_;
};

TEST_F(Timed, KeptBlocksCostNoMoreThanAllowed) {
  const run::Folder run{folder_ / "run"};
  const run::Summary summary = train(options(), run, /*resume=*/false, silent_);
  const Blocks kept = blocks(run);
  ASSERT_EQ(kept.size(), 2U);
  const auto fc1 = static_cast<double>(kept.at("fc1").kept());
  const auto fc2 = static_cast<double>(kept.at("fc2").kept());
  const double ms = 0.25 + 0.01 * fc1 + 0.125 + 0.002 * fc2 + 0.25;  // fc3 stays dense
  EXPECT_LE(ms, 2 + 1e-9);
  EXPECT_GT(ms, 2 - 0.02);  // another block of either would not fit
  EXPECT_NEAR(summary.expected_ms_sparse.value(), ms, 1e-9);
  EXPECT_NEAR(summary.expected_ms_dense.value(), 6.75, 1e-9);
  EXPECT_EQ(summary.products_dense, 784 * 64 + 64 * 32 + 32 * 10);
  EXPECT_EQ(summary.products_sparse, 64 * (kept.at("fc1").kept() + kept.at("fc2").kept()) + 32 * 10);
  EXPECT_EQ(run::read_summary(run.summary()).products_sparse, summary.products_sparse);
  EXPECT_EQ(read_file(run.costs()), read_file(folder_ / "costs.json"));
  EXPECT_EQ(run::read_config(run).options.costs, options().costs);
}

/// Stops a training as a lost machine would.
struct StopEarly : run::Observer {
  void on_progress(const run::Progress& progress) override {
    if (progress.step == 7) throw std::runtime_error("stopped");
  }
};

TEST_F(Timed, AResumedRunCountsByWhatItBeganWith) {
  const run::Folder whole{folder_ / "whole"};
  run::Options given = options();
  given.compare_dense = true;
  train(given, whole, /*resume=*/false, silent_);
  for (const bool removed : {true, false}) {
    const run::Folder cut{folder_ / (removed ? "removed" : "changed")};
    write(folder_ / "costs.json", 0.01);
    run::Options alone = options();
    StopEarly stop;
    EXPECT_THROW(train(alone, cut, /*resume=*/false, stop), std::runtime_error);
    if (removed) {
      std::filesystem::remove(folder_ / "costs.json");
    } else {
      write(folder_ / "costs.json", 0.005);
    }
    train(run::resumed_options(cut, {}), cut, /*resume=*/true, silent_);
    EXPECT_EQ(read_file(cut.model()), read_file(whole.model()));
    EXPECT_EQ(blocks(cut), blocks(whole));
  }
  EXPECT_EQ(run::read_config(whole.dense()).options.prune.budget, "uniform");
}

TEST_F(Timed, CostsOfAnotherNetworkAreRefused) {
  run::Options other = options();
  other.widths = {64, 64};
  EXPECT_NE(problem(other).find("costs: of layer fc2 are for 32 blocks, here it has 64"), std::string::npos)
      << problem(other);
  other.widths = {64};
  EXPECT_NE(problem(other).find("no layer \"fc3\""), std::string::npos) << problem(other);
  other.widths = {64, 32, 32};
  EXPECT_NE(problem(other).find("costs: "), std::string::npos) << problem(other);
  other = options();
  other.prune.block = {8, 4};
  EXPECT_NE(problem(other).find("costs.json: \"block\": is 8x8"), std::string::npos) << problem(other);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none"));
}

}  // namespace
}  // namespace hewn::train
