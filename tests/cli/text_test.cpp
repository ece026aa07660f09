// A text through the program: train, resume, and what the other commands make of the run.
#include <gtest/gtest.h>

#include <algorithm>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"

namespace hewn::test {
namespace {

class TextCommands : public testing::Test {
 protected:
  TextCommands() {
    std::string text;
    for (int i = 0; i < 300; ++i)
      text += i % 2 == 0 ? "over the hills and far away\n" : "the wind shall blow\n";
    write_text(folder_ / "a.txt", text);
  }
  std::vector<std::string> train(const std::string& run, const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"train",       "--data",    "text:" + path("a.txt"),
                                      "--context",   "16",        "--width",
                                      "8",           "--block",   "4",
                                      "--batch",     "16",        "--steps",
                                      "24",          "--threads", "1",
                                      "--log-every", "4",         "--quiet",
                                      "--json",      "--out",     path(run)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static Json json_of_call(const std::vector<std::string>& arguments) {
    const Outcome outcome = hewn(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  }
  static void expect_error(const std::vector<std::string>& arguments, const std::string& named) {
    const Outcome outcome = hewn(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(named), std::string::npos) << outcome.err;
  }
  TempFolder folder_;
};

TEST_F(TextCommands, TrainInspectEvalReport) {
  const Json summary = json_of_call(train("run", {}));
  EXPECT_EQ(summary["method"], "sa++r");
  EXPECT_TRUE(summary["metrics"].contains("bpc"));
  EXPECT_EQ(json_of_call({"inspect", path("run"), "--json"})["layers_pruned"], 8);
  EXPECT_EQ(json_of_call({"eval", path("run"), "--threads", "1", "--json"})["metrics"], summary["metrics"]);
  const Json weights =
      json_of_call({"eval", path("run/model.safetensors"), "--model", "char-transformer", "--data",
                    "text:" + path("a.txt"), "--context", "16", "--width", "8", "--json"});
  EXPECT_EQ(weights["metrics"]["accuracy"], summary["metrics"]["accuracy"]);
  EXPECT_NEAR(weights["metrics"]["loss"].get<double>(), summary["metrics"]["loss"].get<double>(), 1e-5);
  EXPECT_EQ(hewn({"report", path("run"), "--json"}).code, 0);
  EXPECT_EQ(hewn({"export", path("run"), "--to", path("m.hewn")}).code, 0);
  EXPECT_EQ(json_of_call({"inspect", path("m.hewn"), "--json"})["inputs"].size(), 1);
  expect_error({"predict", path("run"), "--data", "text:" + path("a.txt")}, "does not take samples");
}

TEST_F(TextCommands, AStoppedRunGoesOn) {
  json_of_call(train("whole", {"--checkpoint-every", "4"}));
  const auto started = [&] {
    const auto log = folder_ / "cut" / "metrics.jsonl";
    return std::filesystem::exists(log) && read_file(log).find("\"step\":8") != std::string::npos;
  };
  hewn_killed_when(train("cut", {"--checkpoint-every", "4"}), started, 0);
  std::vector<std::string> again = train("cut", {"--resume"});
  json_of_call(again);
  EXPECT_EQ(read_file(folder_ / "cut" / "model.safetensors"),
            read_file(folder_ / "whole" / "model.safetensors"));
}

TEST_F(TextCommands, PlanKnowsTheUsualNetwork) {
  const Json plan = json_of_call({"plan", "--model", "char-transformer", "--json"});
  EXPECT_EQ(plan["layers_pruned"], 8);
  EXPECT_EQ(plan["blocks"], 2 * (8 * 24 + 8 * 8 + 2 * 8 * 32));
  EXPECT_EQ(json_of_call({"plan", "--data", "text", "--depth", "3", "--json"})["layers_pruned"], 12);
  EXPECT_EQ(json_of_call({"plan", "--model", "vit-s/16", "--data", "cifar10", "--width", "32", "--depth", "6",
                          "--patch", "8", "--json"})["layers_total"],
            4 * 6 + 2);
  expect_error({"train", "--data", "text:" + path("absent.txt")}, "data text: no file");
  expect_error({"train", "--data", "text:" + path("a.txt"), "--depth", "0"},
               "depth: expected 1 to 1024, got 0");
}

}  // namespace
}  // namespace hewn::test
