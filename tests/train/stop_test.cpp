// A run that is asked to stop, and one that runs away.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/run/config.h"
#include "hewn/run/observer.h"
#include "hewn/run/stopped.h"
#include "hewn/train/checkpoint.h"
#include "hewn/train/job.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::train {
namespace {

/// Asks a run to stop after so many steps and batches of evaluations.
class StopAfter final : public run::Observer {
 public:
  explicit StopAfter(int64_t events) : left_(events) {}
  void on_step(int64_t, prune::Phase) override { --left_; }
  void on_evaluating(int64_t done, int64_t all) override { left_ -= done < all ? 1 : 0; }
  bool stop_requested() const override { return left_ <= 0; }

 private:
  int64_t left_;
};

class Stop : public testing::Test {
 protected:
  void SetUp() override { test::write_tiny_mnist(folder_ / "data", 200, 100); }

  run::Options options() const {
    run::Options out;
    out.data = "mnist:" + (folder_ / "data").string();
    out.widths = {32, 32};
    out.prune.block = {4, 4};
    out.epochs = 4;
    out.batch = 20;
    out.threads = 1;
    out.log_every = 7;
    out.checkpoint_every = 1000;
    return out;
  }

  /// Stops it after every few steps and batches until it is finished. How often it was stopped.
  int train_in_parts(const run::Options& given, const run::Folder& run, int64_t events) const {
    for (int stops = 0;; ++stops) {
      StopAfter stop(events);
      const bool resume = run.started();
      try {
        train(resume ? run::resumed_options(run, {}) : given, run, resume, stop);
        return stops;
      } catch (const run::Stopped&) {
      }
    }
  }

  void expect_same(const run::Folder& a, const run::Folder& b) const {
    EXPECT_TRUE(read_file(a.metrics()) == read_file(b.metrics())) << b.path;
    EXPECT_TRUE(read_file(a.model()) == read_file(b.model())) << b.path;
  }

  test::TempFolder folder_;
};

TEST_F(Stop, WhereverItIsStoppedARunEndsWithTheSameBits) {
  run::Options given = options();
  given.compare_dense = true;
  given.ema = 0.9;
  run::Observer silent;
  const run::Folder whole{folder_ / "whole"};
  train(given, whole, /*resume=*/false, silent);
  // 2 models, 40 steps and 5 evaluations of 5 batches each: parts end in steps as in evaluations.
  for (const int64_t events : {6, 23}) {
    const run::Folder parts{folder_ / str("parts", events)};
    EXPECT_GT(train_in_parts(given, parts, events), 4);
    expect_same(whole, parts);
    expect_same(whole.dense(), parts.dense());
  }
}

TEST_F(Stop, LeavesACheckpointAndSaysAfterWhichStep) {
  const run::Folder run{folder_ / "run"};
  StopAfter stop(3);
  EXPECT_EQ(test::message_of([&] { train(options(), run, /*resume=*/false, stop); }),
            "stopped after step 3 of 40");
  EXPECT_TRUE(std::filesystem::exists(run.checkpoints() / "step-3.safetensors"));
  StopAfter at_once(0);
  EXPECT_EQ(test::message_of([&] { train(run::resumed_options(run, {}), run, /*resume=*/true, at_once); }),
            "stopped after step 3 of 40");
}

TEST_F(Stop, WhatIsNotThereCannotBeResumed) {
  run::Observer silent;
  const run::Folder typo{folder_ / "typo"};
  EXPECT_NE(test::message_of([&] { train(options(), typo, /*resume=*/true, silent); }).find("no such folder"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(typo.path));
  std::filesystem::create_directory(typo.path);
  EXPECT_NE(test::message_of([&] { train(options(), typo, /*resume=*/true, silent); }).find("holds no run"),
            std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(typo.path));
}

TEST_F(Stop, DivergenceIsReportedAtItsStepAndTheLastGoodCheckpointStays) {
  run::Options given = options();
  given.prune.method = "dense";
  given.lr = 1e9;
  given.warmup = 0.99;  // grows until it is too much
  given.log_every = 1000;
  given.checkpoint_every = 1;
  given.keep_checkpoints = 1;
  class Steps final : public run::Observer {
   public:
    int64_t step = 0;
    void on_step(int64_t now, prune::Phase) override { step = now; }
  } steps;
  const run::Folder run{folder_ / "run"};
  const std::string said = test::message_of([&] { train(given, run, /*resume=*/false, steps); });
  EXPECT_EQ(said.find(str("training diverged at step ", steps.step, " of 40, phase DENSE, learning rate ")),
            0U)
      << said;
  EXPECT_LT(steps.step, 40);
  std::vector<std::string> skipped;
  const auto last = CheckpointStore(run.checkpoints(), 1).load_newest(&skipped);
  if (steps.step > 1) {
    ASSERT_TRUE(last);
    EXPECT_NE(said.find(str("the checkpoint after step ", last->step, " stays")), std::string::npos) << said;
    for (const auto& [name, tensor] : last->tensors) {
      if (name.starts_with("model.")) {
        EXPECT_TRUE(at::isfinite(tensor).all().item<bool>()) << name;
      }
    }
  }
}

TEST_F(Stop, WhatIsEvaluatedIsNamed) {
  class Heard final : public run::Observer {
   public:
    std::vector<run::Evaluation> all;
    void on_evaluation(const run::Evaluation& one) override { all.push_back(one); }
  } heard;
  const run::Folder run{folder_ / "run"};
  const run::Summary summary = train(options(), run, /*resume=*/false, heard);
  ASSERT_EQ(heard.all.size(), 4U);
  EXPECT_EQ(heard.all[1].step, 20);
  EXPECT_EQ(heard.all[1].part, data::Part::kTest);
  EXPECT_EQ(heard.all.back().metrics.at("accuracy"), summary.metrics.at("accuracy"));
  EXPECT_EQ(run::to_json(summary).contains("eval_on"), false);
}

}  // namespace
}  // namespace hewn::train
