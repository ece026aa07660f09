#include "hewn/report/comparison.h"

#include <gtest/gtest.h>

#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::report {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

Outcome outcome(const std::string& method, double sparsity, double accuracy, int64_t seed = 0) {
  return {"mnist · mlp",
          method,
          "16x16",
          sparsity,
          seed,
          method == "dense",
          {{"accuracy", accuracy}, {"loss", 1 - accuracy / 100}}};
}

TEST(Comparison, MeansDeviationsAndWinners) {
  const Json json =
      compare_outcomes({outcome("a", 0.9, 90), outcome("a", 0.9, 92, 1), outcome("b", 0.9, 80),
                        outcome("b", 0.9, 80.5, 1), outcome("a", 0.95, 85), outcome("b", 0.95, 86),
                        outcome("dense", 0, 95), outcome("dense", 0, 97, 1), outcome("dense", 0, 97, 1)});
  EXPECT_EQ(json["metrics"][0], "accuracy");
  int found = 0;
  for (const Json& cell : json["cells"]) {
    if (cell["metric"] != "accuracy" || cell["method"] != "a" || cell["sparsity"] != 0.9) continue;
    EXPECT_EQ(cell["n"], 2);
    EXPECT_EQ(cell["mean"], 91);
    EXPECT_NEAR(cell["sd"].get<double>(), 1.4142, 1e-3);
    ++found;
  }
  EXPECT_EQ(found, 1);
  std::map<std::string, Json> winners;
  for (const Json& row : json["winners"])
    winners[row["metric"].get<std::string>() + row["sparsity"].dump()] = row;
  EXPECT_EQ(winners.at("accuracy0.9")["best"], "a");
  EXPECT_EQ(winners.at("accuracy0.9")["verdict"], "clear");
  EXPECT_EQ(winners.at("loss0.9")["best"], "a");  // less is better
  EXPECT_EQ(winners.at("accuracy0.95")["best"], "b");
  EXPECT_EQ(winners.at("accuracy0.95")["verdict"], "one seed");
  EXPECT_EQ(json["dense"][0]["n"], 2);  // a seed counts once
}

TEST(Comparison, NoiseIsNoVictory) {
  const Json json = compare_outcomes(
      {outcome("a", 0.9, 90), outcome("a", 0.9, 94, 1), outcome("b", 0.9, 91), outcome("b", 0.9, 94.5, 1)});
  EXPECT_EQ(json["winners"][0]["best"], "b");
  EXPECT_EQ(json["winners"][0]["verdict"], "within noise");
}

TEST(Comparison, ClickLogsAreJudgedByTheirLoss) {
  Outcome one = outcome("a", 0.9, 75);
  one.metrics["auc"] = 0.8;
  const Json json = compare_outcomes({one});
  EXPECT_EQ(json["metrics"][0], "loss");
  EXPECT_TRUE(json["winners"].empty());
}

TEST(Comparison, RegressionIsJudgedByItsErrorOfWhichLessIsBetter) {
  Outcome good = outcome("good", 0.9, 75);
  Outcome poor = outcome("poor", 0.9, 75);
  good.metrics = {{"loss", 0.1}, {"r2", 0.9}, {"rmse", 30}};
  poor.metrics = {{"loss", 0.3}, {"r2", 0.7}, {"rmse", 52}};
  const Json json = compare_outcomes({good, poor});
  EXPECT_EQ(json["metrics"], (Json{"rmse", "r2", "loss"}));
  EXPECT_EQ(json["better"],
            (Json{{"loss", "lower is better"}, {"r2", "higher is better"}, {"rmse", "lower is better"}}));
  for (const Json& row : json["winners"]) EXPECT_EQ(row["best"], "good") << row["metric"];
}

TEST(Comparison, CalibrationIsBestAtOne) {
  Outcome low = outcome("low", 0.9, 75);
  Outcome good = outcome("good", 0.9, 75);
  low.metrics = {{"calibration", 0.98}};
  good.metrics = {{"calibration", 1.001}};
  const Json json = compare_outcomes({low, good});
  EXPECT_EQ(json["winners"][0]["best"], "good");
  EXPECT_NEAR(json["winners"][0]["margin"].get<double>(), 0.019, 1e-9);
}

/// A finished run's folder as far as outcomes() looks at it.
class Outcomes : public testing::Test {
 protected:
  void add(const std::string& name, Json options, Json summary) {
    const Json usual = {{"data", "fashion-mnist"}, {"model", "mlp"}, {"widths", {64}}, {"epochs", 10}};
    for (const auto& [key, value] : usual.items()) {
      if (!options.contains(key)) options[key] = value;
    }
    std::filesystem::create_directories(folder_ / name);
    write_text(
        folder_ / name / "config.json",
        Json{{"steps", 10},
             {"signature",
              {{"input", {1, 28, 28}}, {"outputs", 10}, {"clicks", false}, {"vocabularies", Json::array()}}},
             {"options", options}}
            .dump());
    if (summary.is_object()) write_text(folder_ / name / "summary.json", summary.dump());
  }
  std::vector<Outcome> found(const std::vector<std::string>& names) const {
    std::vector<RunView> runs;
    for (const std::string& name : names) runs.emplace_back(run::Folder{folder_ / name});
    return outcomes(runs);
  }
  static Json summary(const std::string& method, double accuracy) {
    return {{"method", method},
            {"block", "8x8"},
            {"sparsity", 0.9},
            {"seed", 0},
            {"metrics", {{"accuracy", accuracy}}}};
  }

  TempFolder folder_;
};

TEST_F(Outcomes, ADenseModelThatWasPrunedLaterIsNotDense) {
  add("dense", {{"method", "dense"}, {"block", "16"}}, summary("dense", 80));
  add("selected", {{"method", "dense"}, {"block", "8"}}, summary("dense+omp", 75));
  add("acdc", {{"method", "acdc"}, {"block", "8"}}, summary("acdc", 77));
  add("square", {{"method", "acdc"}, {"block", "8x8"}, {"log-every", 7}}, summary("acdc", 78));
  const auto all = found({"dense", "selected", "acdc", "square"});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_TRUE(all[0].dense);
  EXPECT_EQ(all[0].sparsity, 0);
  EXPECT_FALSE(all[1].dense);
  EXPECT_EQ(all[1].method, "dense+omp");
  EXPECT_EQ(all[2].block, all[3].block);    // however it was written
  EXPECT_EQ(all[2].method, all[3].method);  // what only the log shows sets nothing apart
}

TEST_F(Outcomes, RunsOfOtherTeachersStayApart) {
  add("dense", {{"method", "dense"}, {"teacher", ""}}, summary("dense", 80));
  add("taught", {{"method", "dense"}, {"teacher", "a.pt"}}, summary("dense with teacher", 81));
  add("first", {{"method", "acdc"}, {"teacher", "a.pt"}}, summary("acdc with teacher", 77));
  add("second", {{"method", "acdc"}, {"teacher", "b.pt"}}, summary("acdc with teacher", 78));
  add("alone", {{"method", "acdc"}, {"teacher", ""}, {"init", "c.pt"}}, summary("acdc", 79));
  add("anew", {{"method", "acdc"}, {"teacher", ""}, {"init", ""}}, summary("acdc", 76));
  const auto all = found({"dense", "taught", "first", "second", "alone", "anew"});
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0].method, "dense");
  EXPECT_EQ(all[1].method, "dense with teacher");
  EXPECT_TRUE(all[1].dense);
  EXPECT_EQ(all[1].sparsity, 0);
  EXPECT_EQ(all[2].method, "acdc with teacher teacher a.pt");
  EXPECT_EQ(all[3].method, "acdc with teacher teacher b.pt");
  EXPECT_EQ(all[4].method, "acdc init c.pt");
  EXPECT_EQ(all[5].method, "acdc");
}

TEST_F(Outcomes, DenseRunsOfOtherSettingsStayApart) {
  Json with_dense = summary("acdc", 77);
  with_dense["dense_metrics"] = {{"accuracy", 81}};
  add("short", {{"method", "acdc"}, {"drop", "mask"}}, with_dense);
  add("short/dense", {{"method", "dense"}, {"drop", "mask"}}, Json());
  add("long", {{"method", "acdc"}, {"epochs", 100}}, with_dense);
  add("long/dense", {{"method", "dense"}, {"epochs", 100}, {"drop", "zero"}}, Json());
  const auto all = found({"short", "long"});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[1].method, "dense epochs 10");
  EXPECT_EQ(all[3].method, "dense epochs 100");
  EXPECT_TRUE(all[3].dense);
}

TEST_F(Outcomes, ADamagedRunIsNamed) {
  add("good", {{"method", "acdc"}}, summary("acdc", 77));
  Json odd = summary("acdc", 77);
  odd["method"] = 7;
  add("odd", {{"method", "acdc"}}, odd);
  const std::string message = message_of([&] { found({"good", "odd"}); });
  EXPECT_NE(message.find((folder_ / "odd").string()), std::string::npos) << message;
}

TEST(Comparison, FindsRunsInFolders) {
  const TempFolder folder;
  for (const char* name : {"sweep/runs/b", "sweep/runs/a", "plain/one"}) {
    std::filesystem::create_directories(folder / name);
    write_text(folder / name / "config.json", "{}");
  }
  std::filesystem::create_directories(folder / "sweep/runs/unfinished");
  std::filesystem::create_directories(folder / "empty");
  const auto runs =
      find_runs({(folder / "sweep").string(), (folder / "plain").string(), (folder / "plain/one").string()});
  ASSERT_EQ(runs.size(), 3U);  // plain/one is named twice
  EXPECT_EQ(runs[0].path.filename(), "a");
  EXPECT_EQ(runs[2].path.filename(), "one");
  EXPECT_EQ(count_failed({(folder / "sweep").string(), (folder / "plain").string()}), 0);
  std::filesystem::create_directories(folder / "sweep/failed/c");
  EXPECT_EQ(count_failed({(folder / "sweep").string(), (folder / "sweep").string()}), 1);
  EXPECT_NE(message_of([&] { find_runs({(folder / "empty").string()}); }).find("is not a run folder"),
            std::string::npos);
  EXPECT_NE(message_of([&] { find_runs({(folder / "absent").string()}); }).find("no such folder"),
            std::string::npos);
}

}  // namespace
}  // namespace hewn::report
