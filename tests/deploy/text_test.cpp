// A run on a text: training, going on, and what comes after it.
#include <gtest/gtest.h>

#include <cmath>

#include "hewn/core/files.h"
#include "hewn/deploy/evaluate.h"
#include "hewn/deploy/export.h"
#include "hewn/deploy/inspect_run.h"
#include "hewn/run/observer.h"
#include "hewn/train/job.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::deploy {
namespace {

using test::message_of;
using test::write_text;

/// Stops a training once it is behind a step, and sees what it shows.
struct Watched : run::Observer {
  int64_t after = 1000;
  double best = 0;
  void on_progress(const run::Progress& progress) override {
    best = std::max(best, progress.accuracy.value_or(-1));
    EXPECT_LE(progress.accuracy.value_or(-1), 100);
    if (progress.step > after) throw Error("interrupted");
  }
};

/// Words that follow each other in a fixed order: easy to learn.
std::string rhyme(int lines) {
  std::string out;
  for (int i = 0; i < lines; ++i)
    out += i % 3 == 0 ? "one two buckle my shoe\n" : "three four shut the door\n";
  return out;
}

class TextRun : public testing::Test {
 protected:
  TextRun() { write_text(folder_ / "a.txt", rhyme(400)); }

  run::Options options(const std::map<std::string, std::string>& more = {}) const {
    std::map<std::string, std::string> given = {{"data", "text:" + (folder_ / "a.txt").string()},
                                                {"context", "16"},
                                                {"width", "8"},
                                                {"block", "4"},
                                                {"sparsity", "0.5"},
                                                {"batch", "16"},
                                                {"steps", "60"},
                                                {"log-every", "5"},
                                                {"threads", "1"}};
    for (const auto& [key, value] : more) given[key] = value;
    return run::options_from(given);
  }
  run::Folder folder(const std::string& name) const { return {folder_ / name}; }
  run::Metrics evaluate_on(const std::string& name, const std::string& data) const {
    run::Options given;
    given.data = data;
    given.threads = 1;
    run::Observer silent;
    return evaluate_run(folder(name), given, silent).metrics;
  }
  test::TempFolder folder_;
};

TEST_F(TextRun, LearnsPrunedAndIsEvaluated) {
  Watched watched;
  const run::Summary summary = train::train(options(), folder("run"), false, watched);
  EXPECT_EQ(summary.layers_pruned, 8);
  EXPECT_EQ(summary.method, "sa++r");
  EXPECT_NEAR(static_cast<double>(summary.kept_blocks) / static_cast<double>(summary.blocks), 0.5, 0.02);
  EXPECT_GT(summary.metrics.at("accuracy"), 40);  // guessing the commonest character: 17
  EXPECT_GT(watched.best, 40);
  EXPECT_NEAR(summary.metrics.at("bpc"), summary.metrics.at("loss") / std::log(2), 1e-9);
  EXPECT_EQ(evaluate_on("run", ""), summary.metrics);
  write_text(folder_ / "b.txt", rhyme(50));
  EXPECT_GT(evaluate_on("run", "text:" + (folder_ / "b.txt").string()).at("accuracy"), 40);
  write_text(folder_ / "c.txt", rhyme(50) + "ONE");
  EXPECT_NE(
      message_of([&] { evaluate_on("run", "text:" + (folder_ / "c.txt").string()); }).find("c.txt: its byte"),
      std::string::npos);
  // Of 33 symbols and more that are not pruned the file holds all, of the others half.
  const ExportReport report = export_run(folder("run"), folder_ / "m.hewn", io::DType::kF32);
  EXPECT_EQ(report.layers.size(), 9U);
  EXPECT_LT(report.bytes, report.bytes_dense);
  EXPECT_EQ(message_of([&] { exported_run(folder("run")); }),
            "this model cannot be exported: it does not say what its graph is");
}

TEST_F(TextRun, GoesOnWithTheSameBitsAndOnTheSameTextOnly) {
  run::Observer silent;
  train::train(options({{"accumulate", "2"}}), folder("whole"), false, silent);
  Watched stop;
  stop.after = 30;
  const run::Options given = options({{"accumulate", "2"}, {"checkpoint-every", "10"}});
  EXPECT_EQ(message_of([&] { train::train(given, folder("cut"), false, stop); }), "interrupted");
  write_text(folder_ / "a.txt", rhyme(401));
  EXPECT_NE(message_of([&] {
              train::train(given, folder("cut"), true, silent);
            }).find("data: the text is not what it was when "),
            std::string::npos);
  write_text(folder_ / "a.txt", rhyme(400));
  train::train(given, folder("cut"), true, silent);
  for (const char* name : {"model.safetensors", "metrics.jsonl"})
    EXPECT_EQ(read_file(folder_ / "whole" / name), read_file(folder_ / "cut" / name)) << name;
}

TEST_F(TextRun, OtherModelsAreRefused) {
  run::Observer silent;
  EXPECT_EQ(message_of([&] {
              train::train(options({{"model", "mlp"}}), folder("m"), false, silent);
            }),
            "model mlp: takes images, not text");
  EXPECT_EQ(message_of([&] {
              run::Options images = options();
              images.data = "fashion-mnist";
              train::train(images, folder("m"), false, silent);
            }).find("model char-transformer: takes text, not images") == std::string::npos,
            !std::filesystem::exists("/usr/share/datasets/fashion-mnist"));
}

}  // namespace
}  // namespace hewn::deploy
