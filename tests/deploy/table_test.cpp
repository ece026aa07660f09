// A run on a table: from training over resuming to predictions of new rows.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/deploy/evaluate.h"
#include "hewn/deploy/export.h"
#include "hewn/deploy/inputs/new_data.h"
#include "hewn/deploy/inspect_file.h"
#include "hewn/deploy/predict.h"
#include "hewn/deploy/samples.h"
#include "hewn/run/observer.h"
#include "hewn/train/job.h"
#include "tests/support/message.h"
#include "tests/support/tables.h"
#include "tests/support/temp_folder.h"

namespace hewn::deploy {
namespace {

using test::message_of;
using test::write_text;

/// Stops a training once it is behind a step.
struct Interrupted : run::Observer {
  int64_t after = 0;
  void on_progress(const run::Progress& progress) override {
    if (progress.step > after) throw Error("interrupted");
  }
};

class TableRun : public testing::Test {
 protected:
  TableRun() { write_text(folder_ / "a.csv", test::regression_table(600)); }

  run::Options options(const std::map<std::string, std::string>& more = {}) const {
    std::map<std::string, std::string> given = {{"data", "csv:" + (folder_ / "a.csv").string()},
                                                {"widths", "64,64"},
                                                {"block", "4"},
                                                {"epochs", "40"},
                                                {"threads", "1"}};
    for (const auto& [key, value] : more) given[key] = value;
    return run::options_from(given);
  }
  run::Summary train(const std::string& name, const run::Options& options, bool resume = false) const {
    run::Observer silent;
    return train::train(options, {folder_ / name}, resume, silent);
  }
  Evaluated evaluate_on(const std::string& name, const std::string& data) const {
    run::Options given;
    given.data = data;
    given.threads = 1;
    run::Observer silent;
    return evaluate_run({folder_ / name}, given, silent);
  }
  std::string table(const std::string& name) const { return "csv:" + (folder_ / name).string(); }
  test::TempFolder folder_;
};

TEST_F(TableRun, ATenthOfTheBlocksStillExplainsTheTarget) {
  const run::Summary summary = train("run", options());
  EXPECT_LT(static_cast<double>(summary.kept_blocks), 0.11 * static_cast<double>(summary.blocks));
  EXPECT_GT(summary.metrics.at("r2"), 0.9);
  EXPECT_LT(summary.metrics.at("rmse"), 80);  // the target's deviation is above 200
  EXPECT_EQ(evaluate_on("run", "").metrics, summary.metrics);
  const std::string log = read_file(folder_ / "run" / "metrics.jsonl");
  EXPECT_EQ(log.find("accuracy"), std::string::npos);
}

TEST_F(TableRun, GoesOnWithTheSameBitsAndOnTheSameRowsOnly) {
  const run::Options given = options({{"epochs", "6"}});
  train("whole", given);
  Interrupted stop;
  stop.after = 30;
  EXPECT_EQ(message_of([&] { train::train(given, {folder_ / "cut"}, false, stop); }), "interrupted");
  const std::string before = read_file(folder_ / "a.csv");
  write_text(folder_ / "a.csv", test::regression_table(600, 1));
  EXPECT_EQ(message_of([&] { train("cut", given, true); }),
            "data: the table is not what it was when " + (folder_ / "cut").string() + " was started");
  EXPECT_NE(message_of([&] { evaluate_on("whole", ""); }), "");
  write_text(folder_ / "a.csv", before);
  train("cut", given, true);
  EXPECT_EQ(read_file(folder_ / "cut" / "model.safetensors"),
            read_file(folder_ / "whole" / "model.safetensors"));
  EXPECT_EQ(read_file(folder_ / "cut" / "metrics.jsonl"), read_file(folder_ / "whole" / "metrics.jsonl"));
}

TEST_F(TableRun, NewRowsArePredictedAsTheyAre) {
  train("run", options({{"epochs", "10"}}));
  export_run({folder_ / "run"}, folder_ / "m.hewn", io::DType::kF32);
  EXPECT_TRUE(preprocessing_text(inspect_file(folder_ / "m.hewn"))
                  .starts_with("rows of a table: 10 columns of numbers, 0 of text; target {\"name\":\"y\""));
  write_text(folder_ / "b.csv", test::regression_table(50, 5000));
  const run::Metrics metrics = evaluate_on("run", table("b.csv")).metrics;
  const Predictions got = predict(folder_ / "m.hewn", {.data = table("b.csv"), .threads = 1});
  ASSERT_EQ(got.samples, 50);
  EXPECT_FALSE(got.classifies());
  for (const auto& [name, value] : metrics)
    EXPECT_NEAR(got.metrics.at(name), value, 1e-4 * std::abs(value)) << name;
  // The same rows without data, as files of a user's own.
  OpenModel model = open_model(folder_ / "m.hewn", 1);
  Samples samples;
  add_samples((folder_ / "b.csv").string(), model, samples);
  const Predictions plain = predict(model, samples, 16, 0);
  EXPECT_EQ(plain.logits, got.logits);
  std::istringstream rows("x9,x8,x7,x6,x5,x4,x3,x2,x1,x0\n50,50,50,50,50,50,50,50,50,50\n");
  const Predictions typed = predict(model, {(folder_ / "b.csv").string(), "-"}, rows, {.limit = 51});
  ASSERT_EQ(typed.samples, 51);
  EXPECT_EQ(std::vector<float>(typed.logits.begin(), typed.logits.end() - 1), got.logits);
  EXPECT_GT(plain.logits[0], 300);  // in the target's own unit
  EXPECT_LT(plain.logits[0], 1700);
}

TEST_F(TableRun, ClassesKeepTheirNames) {
  std::string text = "a,b,kind\n";
  for (int i = 0; i < 200; ++i) {
    const int a = i * 37 % 101;
    text += str(a, ",", i * 53 % 97, ",", a > 66 ? "high" : a > 33 ? "middle" : "low", "\n");
  }
  write_text(folder_ / "a.csv", text);
  const run::Summary summary =
      train("run", options({{"epochs", "30"}, {"batch", "16"}, {"sparsity", "0.5"}}));
  EXPECT_GT(summary.metrics.at("accuracy"), 85);
  OpenModel model = open_model(folder_ / "run", 1);
  EXPECT_EQ(model.classes(), (std::vector<std::string>{"high", "low", "middle"}));
  Samples samples;
  add_samples("b,a\n0,100\n0,1\n", "rows", model, samples);
  const Predictions got = predict(model, samples, 16, 0);
  EXPECT_EQ(got.class_of(0), 0);
  EXPECT_EQ(got.class_of(1), 1);
  write_text(folder_ / "a.csv", text + "200,1,huge\n200,2,huge\n");
  EXPECT_EQ(message_of([&] { evaluate_on("run", ""); }),
            "data: the table is not what it was when " + (folder_ / "run").string() + " was started");
  EXPECT_NE(message_of([&] {
              train("r18", options({{"model", "resnet18"}}));
            }).find("takes images, not rows of a table"),
            std::string::npos);
}

}  // namespace
}  // namespace hewn::deploy
