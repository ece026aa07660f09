#include "hewn/report/comparison.h"

#include <gtest/gtest.h>

#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::report {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

Outcome outcome(const std::string& method, double sparsity, double accuracy) {
  return {"mnist · mlp", method, "16", sparsity, {{"accuracy", accuracy}, {"loss", 1 - accuracy / 100}}};
}

TEST(Comparison, MeansDeviationsAndWinners) {
  const Json json = compare_outcomes({outcome("a", 0.9, 90), outcome("a", 0.9, 92), outcome("b", 0.9, 80),
                                      outcome("b", 0.9, 80.5), outcome("a", 0.95, 85), outcome("b", 0.95, 86),
                                      outcome("dense", 0, 95), outcome("dense", 0, 97)});
  EXPECT_EQ(json["metrics"][0]["name"], "accuracy");
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
  EXPECT_EQ(json["dense"][0]["n"], 2);
}

TEST(Comparison, NoiseIsNoVictory) {
  const Json json = compare_outcomes(
      {outcome("a", 0.9, 90), outcome("a", 0.9, 94), outcome("b", 0.9, 91), outcome("b", 0.9, 94.5)});
  EXPECT_EQ(json["winners"][0]["best"], "b");
  EXPECT_EQ(json["winners"][0]["verdict"], "within noise");
}

TEST(Comparison, ClickLogsAreJudgedByTheirLoss) {
  Outcome one = outcome("a", 0.9, 75);
  one.metrics["auc"] = 0.8;
  const Json json = compare_outcomes({one});
  EXPECT_EQ(json["metrics"][0]["name"], "loss");
  EXPECT_FALSE(json["metrics"][0]["more_is_better"]);
  EXPECT_TRUE(json["winners"].empty());
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
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[0].path.filename(), "a");
  EXPECT_EQ(runs[2].path.filename(), "one");
  EXPECT_NE(message_of([&] { find_runs({(folder / "empty").string()}); }).find("is not a run folder"),
            std::string::npos);
  EXPECT_NE(message_of([&] { find_runs({(folder / "absent").string()}); }).find("no such folder"),
            std::string::npos);
}

}  // namespace
}  // namespace hewn::report
