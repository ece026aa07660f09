// hewn report and hewn watch on real runs, and what they say to senseless input.
#include <gtest/gtest.h>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

/// One small run; tests that change something work on copies.
class Report : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new TempFolder;
    write_tiny_mnist(*shared_ / "data", 200, 50);
    const std::vector<std::string> words = {"train",
                                            "--quiet",
                                            "--data",
                                            "mnist:" + (*shared_ / "data").string(),
                                            "--epochs",
                                            "3",
                                            "--batch",
                                            "50",
                                            "--widths",
                                            "64",
                                            "--block",
                                            "8",
                                            "--method",
                                            "acdc",
                                            "--sparse-execution",
                                            "off",
                                            "--out",
                                            run(),
                                            "--compare-dense"};
    ASSERT_EQ(hewn(words).code, 0);
  }
  static void TearDownTestSuite() { delete shared_; }
  static std::string run() { return (*shared_ / "run").string(); }

  /// A copy of the run with some options and the accuracy changed.
  std::string variant(const std::string& name, const Json& options, double accuracy) const {
    const auto out = folder_ / name;
    std::filesystem::create_directories(out.parent_path());
    std::filesystem::copy(run(), out, std::filesystem::copy_options::recursive);
    Json config = Json::parse(read_file(out / "config.json"));
    Json summary = Json::parse(read_file(out / "summary.json"));
    for (const auto& [key, value] : options.items()) {
      config["options"][key] = value;
      if (summary.contains(key)) summary[key] = value;
    }
    summary["metrics"]["accuracy"] = accuracy;
    write_text(out / "config.json", config.dump());
    write_text(out / "summary.json", summary.dump());
    return out.string();
  }

  static TempFolder* shared_;
  TempFolder folder_;
};

TempFolder* Report::shared_ = nullptr;

TEST_F(Report, OfARun) {
  const Outcome json = hewn({"report", run(), "--json", "--batch", "4"});
  ASSERT_EQ(json.code, 0) << json.err;
  const Json one = Json::parse(json.out)["runs"][0];
  EXPECT_EQ(one["status"], "finished");
  EXPECT_TRUE(one["headline"]["dense_metrics"].contains("accuracy"));
  EXPECT_EQ(one["latency"]["batch"], 4);
  EXPECT_GT(one["latency"]["sparse_ms"].get<double>(), 0);
  EXPECT_EQ(one["latency"]["threads"], 1);  // what else runs here must not change the headline
  EXPECT_EQ(one["latency"]["clock"], "thread CPU time");
  EXPECT_NE(one["latency"]["speedup"].is_number(), one["latency"].contains("withheld"));
  EXPECT_NE(one["latency"]["layers"].contains("fc1"), one["latency"].contains("withheld"));
  EXPECT_EQ(one["masks"].size(), 1U);
  EXPECT_GT(one["churn"].size(), 0U);
  EXPECT_TRUE(one["problems"].empty()) << one["problems"];

  const std::string file = (folder_ / "report.html").string();
  const Outcome page = hewn({"report", run(), "-o", file, "--no-latency"});
  if (HEWN_WEB == 0) {
    EXPECT_EQ(page.code, 2);
    EXPECT_NE(page.err.find("this build has no report page"), std::string::npos);
  } else {
    ASSERT_EQ(page.code, 0) << page.err;
    const std::string text = read_file(file);
    EXPECT_TRUE(text.starts_with("<!doctype html>"));
    EXPECT_NE(text.find("\"missing\":\"not asked for\""), std::string::npos);
    EXPECT_LT(text.size(), 5U << 20);
  }
}

TEST_F(Report, OfSeveralRunsComparesThem) {
  variant("sweep/runs/a0", {{"seed", 0}}, 90);
  variant("sweep/runs/a1", {{"seed", 1}}, 92);
  variant("sweep/runs/b0", {{"method", "magnitude"}, {"seed", 0}}, 80);
  variant("sweep/runs/b1", {{"method", "magnitude"}, {"seed", 1}}, 81);
  const Outcome outcome = hewn({"report", (folder_ / "sweep").string(), "--json", "--no-latency"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json data = Json::parse(outcome.out);
  EXPECT_EQ(data["runs"].size(), 4U);
  EXPECT_EQ(data["comparison"]["winners"][0]["best"], "acdc");
  EXPECT_EQ(data["comparison"]["dense"][0]["n"], 2);  // one beside each run, two seeds
  const Json two = Json::parse(
      hewn({"report", run(), variant("c", {{"momentum", 0.5}}, 50), "--json", "--no-latency"}).out);
  std::map<std::string, int> seeds;
  for (const Json& cell : two["comparison"]["cells"]) {
    if (cell["metric"] == "accuracy") seeds[cell["method"]] = cell["n"];
  }
  EXPECT_EQ(seeds, (std::map<std::string, int>{{"acdc momentum 0.5", 1}, {"acdc momentum 0.9", 1}}));
}

TEST(ReportInput, SaysInOneLineWhatIsWrong) {
  const TempFolder folder;
  const std::string none = (folder / "none").string();
  for (const auto& words : std::vector<std::vector<std::string>>{{"report", none},
                                                                 {"report", folder.path().string()},
                                                                 {"watch", none},
                                                                 {"watch", none, "--terminal"}}) {
    const Outcome outcome = hewn(words);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(Report, TheTerminalShowsWhereARunStands) {
  const Outcome done = hewn({"watch", run(), "--terminal"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("step 12/12  finished  SPARSE  loss "), std::string::npos) << done.out;
  const std::string killed = variant("killed", {{"seed", 0}}, 0);
  std::filesystem::remove(killed + "/summary.json");
  EXPECT_NE(hewn({"watch", killed, "--terminal"}).out.find("  stopped  "), std::string::npos);
  if (HEWN_WEB == 1) {
    const Outcome open = hewn({"watch", killed, "--host", "0.0.0.0", "--port", "0"});
    EXPECT_EQ(open.code, 2);
    EXPECT_NE(open.err.find("--allow-remote"), std::string::npos) << open.err;
  }
}

}  // namespace
}  // namespace hewn::test
