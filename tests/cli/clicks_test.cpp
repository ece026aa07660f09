// Click logs through the program: from text to a pruned model that runs, killed on the way.
#include <gtest/gtest.h>

#include <algorithm>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "tests/support/click_logs.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

class Clicks : public testing::Test {
 protected:
  void SetUp() override { write_text(folder_ / "log.tsv", criteo_rows(0, 3000)); }

  std::string log() const { return "criteo:" + (folder_ / "log.tsv").string(); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::vector<std::string> train(const std::string& run, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {
        "train", "--quiet",    "--json",  "--widths",           "32,16", "--embedding", "4", "--block",
        "4",     "--sparsity", "0.9",     "--threads",          "2",     "--log-every", "7", "--batch",
        "100",   "--out",      path(run), "--checkpoint-every", "5",     "--min-count", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Lines of a run's log so far.
  int64_t lines(const std::string& run) const {
    const auto file = folder_ / run / "metrics.jsonl";
    if (!std::filesystem::exists(file)) return 0;
    const std::string text = read_file(file);
    return static_cast<int64_t>(std::count(text.begin(), text.end(), '\n'));
  }

  TempFolder folder_;
};

TEST_F(Clicks, FromTextToAPrunedModelThatPredicts) {
  const Outcome trained = hewn(train("run", {"--data", log(), "--epochs", "3", "--method", "sa++r"}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Json summary = Json::parse(trained.out);
  EXPECT_EQ(summary["model"], "ctr-dnn");
  EXPECT_EQ(summary["layers_pruned"], 1);  // the first layer alone, unless asked for
  EXPECT_TRUE(summary["best_test_loss"].is_null());
  for (const char* metric : {"loss", "auc", "calibration", "accuracy"}) {
    EXPECT_TRUE(summary["metrics"].contains(metric)) << metric;
  }
  const Json config = Json::parse(read_file(folder_ / "run" / "config.json"));
  EXPECT_EQ(config["options"]["schedule"], "sa++/ctr");
  EXPECT_EQ(config["options"]["score"], "gated-norm");
  EXPECT_EQ(config["options"]["reset"], "none");
  EXPECT_EQ(config["options"]["rounding"], "down");
  EXPECT_EQ(config["signature"]["vocabularies"].size(), 39U);

  const Outcome evaluated = hewn({"eval", path("run"), "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(Json::parse(evaluated.out)["metrics"], summary["metrics"]);
  ASSERT_EQ(hewn({"export", path("run"), "--to", path("model.hewn")}).code, 0);
  const Outcome predicted =
      hewn({"predict", path("model.hewn"), "--data", log(), "--min-count", "2", "--json"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const Json metrics = Json::parse(predicted.out)["metrics"];
  for (const auto& [name, value] : summary["metrics"].items()) {
    EXPECT_NEAR(metrics[name].get<double>(), value.get<double>(), 1e-4) << name;
  }
  // New rows, with values that training has not met, and the model file alone.
  write_text(folder_ / "new.tsv", criteo_rows(0, 50) + "0" + std::string(39, '\t') + "abcdef01\n");
  const Outcome fresh = hewn({"predict", path("model.hewn"), path("new.tsv"), "--json"});
  ASSERT_EQ(fresh.code, 0) << fresh.err;
  const Json scores = Json::parse(fresh.out)["score"];
  ASSERT_EQ(scores.size(), 51U);
  for (const Json& score : scores) EXPECT_TRUE(score > 0 && score < 1) << score;
  // The model may have been trained for other numbers of values.
  const Outcome other = hewn({"predict", path("model.hewn"), "--data", log(), "--min-count", "50"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("field"), std::string::npos) << other.err;
}

TEST_F(Clicks, SlowKilledTrainingsEndWithTheSameBits) {
  for (const std::string& data : {std::string("synthetic-ctr"), log()}) {
    const std::string whole = data.substr(0, 5) + "-whole";
    const std::string killed = data.substr(0, 5) + "-killed";
    const std::vector<std::string> what = {"--data",       data, "--no-compare-dense", "--steps", "400",
                                           "--eval-every", "1"};
    const auto go_on = [&] {
      std::vector<std::string> words = train(killed, what);
      if (std::filesystem::exists(folder_ / killed / "config.json")) words.emplace_back("--resume");
      return words;
    };
    ASSERT_EQ(hewn(train(whole, what)).code, 0);
    const int64_t all = lines(whole);
    for (int i = 1; i <= 3; ++i) {
      const auto ready = [&] { return lines(killed) >= i * all / 6; };
      ASSERT_TRUE(hewn_killed_when(go_on(), ready, 3 * i)) << i;
    }
    const Outcome last = hewn(go_on());
    ASSERT_EQ(last.code, 0) << last.err;
    for (const char* name : {"model.safetensors", "metrics.jsonl"}) {
      EXPECT_EQ(read_file(folder_ / whole / name), read_file(folder_ / killed / name)) << name;
    }
  }
}

TEST_F(Clicks, TheSyntheticLogSaysWhatIsPossible) {
  const Outcome trained = hewn(train("run", {"--data", "synthetic-ctr", "--steps", "20"}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Json summary = Json::parse(trained.out);
  EXPECT_NEAR(summary["best_test_loss"].get<double>(), 0.394, 0.002);
  EXPECT_GT(summary["metrics"]["loss"].get<double>(), summary["best_test_loss"].get<double>());
  EXPECT_GT(summary["dense_metrics"]["loss"].get<double>(), summary["best_test_loss"].get<double>());
  const Outcome plan = hewn({"plan", "--model", "ctr-dnn", "--block", "20", "--sparsity", "0.97", "--json"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  const Json layers = Json::parse(plan.out)["layers"];
  ASSERT_EQ(layers.size(), 4U);
  EXPECT_EQ(layers[0]["kept"], 12);  // of 20 x 20
  EXPECT_EQ(layers[1]["pruned"], false);
}

TEST_F(Clicks, WhatDoesNotFitIsRefusedInOneLine) {
  const auto refuses = [&](const std::vector<std::string>& more, const std::string& said) {
    const Outcome outcome = hewn(train("wrong", more));
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "wrong"));
  };
  refuses({"--data", "synthetic-ctr", "--model", "mlp"}, "mlp: takes images");
  test::write_tiny_mnist(folder_ / "mnist", 20, 10);
  refuses({"--data", "mnist:" + path("mnist"), "--model", "ctr-dnn"}, "ctr-dnn: takes click logs");
  refuses({"--data", "synthetic-ctr:one"}, "number of a world");
  refuses({"--data", "synthetic-ctr", "--label-smoothing", "0.1"}, "label-smoothing");
  refuses({"--data", "synthetic-ctr", "--eval-on", "train"}, "test or validation");
  refuses({"--data", "synthetic-ctr", "--embedding", "0"}, "embedding");
  refuses({"--data", "synthetic-ctr", "--logit-moment", "mine"}, "own or shared");
  refuses({"--data", "synthetic-ctr", "--cycles", "0"}, "cycles");
  refuses({"--data", "criteo:" + path("nowhere.tsv")}, "nowhere.tsv");
}

}  // namespace
}  // namespace hewn::test
