// A network that learns from another one: what is minimised, and that runs know their teacher.
#include "hewn/train/teacher.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hewn/core/files.h"
#include "hewn/run/config.h"
#include "hewn/run/stopped.h"
#include "hewn/tensor/tensor_file.h"
#include "hewn/train/job.h"
#include "tests/support/message.h"
#include "tests/support/tables.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::train {
namespace {

/// Asks a run to stop after so many steps and batches of evaluations.
class StopSoon final : public run::Observer {
 public:
  explicit StopSoon(int64_t events) : left_(events) {}
  void on_step(int64_t, prune::Phase) override { --left_; }
  void on_evaluating(int64_t done, int64_t all) override { left_ -= done < all ? 1 : 0; }
  bool stop_requested() const override { return left_ <= 0; }

 private:
  int64_t left_;
};

class TaughtRun : public testing::Test {
 protected:
  TaughtRun() {
    test::write_tiny_mnist(folder_ / "data", 200, 40);
    run::Options dense = options();
    dense.prune.method = "dense";
    dense.seed = 1;
    train(dense, elder_, /*resume=*/false, silent_);
  }

  run::Options options() const {
    run::Options out;
    out.data = "mnist:" + (folder_ / "data").string();
    out.widths = {32, 32};
    out.prune.block = {4, 4};
    out.epochs = 2;
    out.batch = 20;
    out.threads = 1;
    out.log_every = 7;
    out.checkpoint_every = 1000;
    return out;
  }
  run::Options taught(const std::string& teacher) const {
    run::Options out = options();
    out.teacher = teacher;
    return out;
  }
  run::Folder trained(const run::Options& given, const std::string& name) {
    const run::Folder run{folder_ / name};
    train(given, run, /*resume=*/false, silent_);
    return run;
  }
  run::Folder stopped(const run::Options& given, const std::string& name, int64_t events) {
    const run::Folder run{folder_ / name};
    StopSoon stop(events);
    EXPECT_THROW(train(given, run, /*resume=*/false, stop), run::Stopped);
    return run;
  }
  void resume(const run::Folder& run) { train(run::resumed_options(run, {}), run, /*resume=*/true, silent_); }
  std::string problem(const run::Options& given) {
    return test::message_of([&] { trained(given, "none"); });
  }
  void expect_same(const run::Folder& a, const run::Folder& b) const {
    EXPECT_TRUE(read_file(a.metrics()) == read_file(b.metrics())) << b.path;
    EXPECT_TRUE(read_file(a.model()) == read_file(b.model())) << b.path;
  }

  test::TempFolder folder_;
  run::Observer silent_;
  run::Folder elder_{folder_ / "elder"};
};

TEST_F(TaughtRun, AShareOfNothingIsNoTeacher) {
  run::Options none = taught(elder_.path);
  none.teacher_share = 0;
  const run::Folder plain = trained(options(), "plain");
  expect_same(plain, trained(none, "none"));
  const run::Folder learned = trained(taught(elder_.path), "learned");
  EXPECT_FALSE(read_file(plain.model()) == read_file(learned.model()));
  EXPECT_EQ(run::read_summary(plain.summary()).method, "sa++r");
  EXPECT_EQ(run::read_summary(learned.summary()).method, "sa++r with teacher");
  const run::Options recorded = run::read_config(learned).options;
  EXPECT_EQ(recorded.teacher, elder_.path.string());
  EXPECT_EQ(recorded.teacher_share, 0.5);
  EXPECT_EQ(recorded.temperature, 4);
}

TEST_F(TaughtRun, TheDenseModelBesideItTeaches) {
  run::Options given = taught(run::kSelfDense);
  given.accumulate = 3;
  const run::Folder whole = trained(given, "whole");
  given.teacher.clear();
  given.prune.method = "dense";
  expect_same(trained(given, "dense"), whole.dense());  // which had no teacher itself
  EXPECT_TRUE(run::read_summary(whole.summary()).dense_metrics);
  given = taught(whole.dense().path);
  given.accumulate = 3;
  expect_same(trained(given, "by-path"), whole);
}

TEST_F(TaughtRun, IsResumedToTheBit) {
  const run::Options given = taught(run::kSelfDense);
  const run::Folder whole = trained(given, "whole");
  // 20 steps and 3 evaluations of 2 batches each: in the dense model, and behind it.
  for (const int64_t events : {13, 35}) {
    const run::Folder cut = stopped(given, str("cut", events), events);
    EXPECT_EQ(std::filesystem::exists(cut.dense().summary()), events > 26);
    resume(cut);
    expect_same(whole, cut);
    expect_same(whole.dense(), cut.dense());
  }
}

TEST_F(TaughtRun, GoesOnWithTheSameTeacherOnly) {
  const std::filesystem::path file = folder_ / "w.pt";
  auto weights = tensor::load_weights(elder_.model()).tensors;
  tensor::save_torch(file, weights);
  const run::Folder whole = trained(taught(file), "whole");
  const run::Folder cut = stopped(taught(file), "cut", 9);
  const auto said = [&] { return test::message_of([&] { resume(cut); }); };
  weights.at("fc2.bias") = weights.at("fc2.bias") + 1;
  tensor::save_torch(file, weights);
  EXPECT_EQ(said(), str("teacher: ", file.string(),
                        " has other weights than those that the run has learned from so far"));
  std::filesystem::remove(file);
  EXPECT_EQ(said(), str("teacher: ", file.string(), ": no such file or folder"));
  std::filesystem::copy_file(elder_.model(), file);  // the same weights, written otherwise
  resume(cut);
  expect_same(whole, cut);
}

TEST_F(TaughtRun, SaysWhatDoesNotFit) {
  run::Options wide = taught(elder_.path);
  wide.widths = {32, 48};
  EXPECT_EQ(problem(wide), str("teacher: ", elder_.model().string(),
                               ": tensor \"fc2.bias\" has shape [32], the model needs [48]"));
  auto weights = tensor::load_weights(elder_.model()).tensors;
  weights["fc3.weight"] = at::zeros({12, 32});
  weights["fc3.bias"] = at::zeros({12});
  tensor::save_torch(folder_ / "w.pt", weights);
  EXPECT_EQ(problem(taught(folder_ / "w.pt")),
            str("teacher: ", (folder_ / "w.pt").string(),
                ": tensor \"fc3.bias\" has shape [12], the model needs [10]"));
  weights.erase("fc3.bias");
  tensor::save_torch(folder_ / "w.pt", weights);
  EXPECT_NE(problem(taught(folder_ / "w.pt")).find("w.pt"), std::string::npos);
  EXPECT_NE(problem(taught(folder_ / "none" / "model.safetensors")).find("is part of the run"),
            std::string::npos);
  run::Options dense = taught(run::kSelfDense);
  dense.prune.method = "dense";
  EXPECT_EQ(problem(dense).find("teacher: self-dense is the dense model beside a pruned one"), 0U);
  run::Options more = taught(elder_.path);
  more.teacher_share = 1.5;
  EXPECT_EQ(problem(more), "teacher-share: expected a number in [0, 1], got 1.5");
  more.teacher_share = 1;
  more.temperature = 0;
  EXPECT_EQ(problem(more), "temperature: expected a number above 0, got 0");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "none"));
}

TEST_F(TaughtRun, NumbersHaveNoTemperature) {
  test::write_text(folder_ / "t.csv", test::regression_table(120));
  run::Options given = run::usual_options("csv:" + (folder_ / "t.csv").string());
  given.tables.target = "y";
  given.tables.task = "regression";
  given.widths = {32, 32};
  given.prune.block = {4, 4};
  given.prune.min_blocks = 4;
  given.steps = 8;
  given.batch = 16;
  given.threads = 1;
  given.teacher = run::kSelfDense;
  EXPECT_EQ(run::read_config(trained(given, "numbers")).options.temperature, std::nullopt);
  given.temperature = 2;
  EXPECT_EQ(problem(given), "temperature: is for classes and clicks; leave it out for regression");
}

}  // namespace
}  // namespace hewn::train
