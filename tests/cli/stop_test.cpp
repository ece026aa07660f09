// Ctrl-C and kill: what the program says, what it leaves and what it exits with.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

using Words = std::vector<std::string>;

class Signals : public testing::Test {
 protected:
  void SetUp() override { write_tiny_mnist(folder_ / "data", 1000, 100); }

  Words train(const std::string& run, const Words& more = {}) const {
    Words words = {"train",
                   "--data",
                   "mnist:" + (folder_ / "data").string(),
                   "--epochs",
                   "40",
                   "--batch",
                   "50",
                   "--widths",
                   "64,64",
                   "--block",
                   "8",
                   "--threads",
                   "1",
                   "--out",
                   (folder_ / run).string(),
                   "--log-every",
                   "10",
                   "--sparse-execution",
                   "off",
                   "--min-blocks",
                   "10"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static Words launched(const Words& words) {
    Words out = {"launch", "-n", "2", "--"};
    out.insert(out.end(), words.begin(), words.end());
    return out;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Whether a run has logged some more since this was asked for.
  std::function<bool()> logged(const std::string& run) const {
    const auto size = [file = folder_ / run / "metrics.jsonl"] {
      return std::filesystem::exists(file) ? std::filesystem::file_size(file) : 0;
    };
    return [size, enough = size() + 1000] { return size() > enough; };
  }
  void expect_same(const std::string& a, const std::string& b) const {
    for (const char* name : {"model.safetensors", "metrics.jsonl"}) {
      EXPECT_EQ(read_file(folder_ / a / name), read_file(folder_ / b / name)) << name;
    }
  }

  TempFolder folder_;
};

TEST_F(Signals, StopARunThatGoesOnToTheSameBits) {
  ASSERT_EQ(hewn(train("whole")).code, 0);
  Words words = train("parts");
  for (const int number : {SIGINT, SIGTERM}) {
    const Outcome stopped = hewn_signalled_when(words, logged("parts"), number);
    EXPECT_EQ(stopped.code, 128 + number) << stopped.err;
    EXPECT_NE(stopped.err.find("hewn: stopped after step "), std::string::npos) << stopped.err;
    EXPECT_NE(stopped.err.find("go on with: hewn train --resume --out " + path("parts") + "\n"),
              std::string::npos)
        << stopped.err;
    words = {"train", "--resume", "--out", path("parts")};
  }
  const Outcome last = hewn(words);
  ASSERT_EQ(last.code, 0) << last.err;
  expect_same("whole", "parts");
}

TEST_F(Signals, AreHeardByAllProcessesOfALaunch) {
  const Outcome stopped = hewn_signalled_when(launched(train("run")), logged("run"), SIGTERM);
  EXPECT_EQ(stopped.code, 128 + SIGTERM) << stopped.err;
  EXPECT_NE(stopped.err.find("hewn: stopped after step "), std::string::npos) << stopped.err;
  EXPECT_EQ(stopped.err.find("lost rank"), std::string::npos) << stopped.err;
  EXPECT_EQ(stopped.err.find("launch: rank"), std::string::npos) << stopped.err;
  EXPECT_FALSE(std::filesystem::is_empty(folder_ / "run" / "checkpoints"));
}

TEST_F(Signals, ATypoBehindResumeMakesNothing) {
  const Outcome outcome = hewn(train("typo", {"--resume"}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("typo: no such folder"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(path("typo")));
}

TEST_F(Signals, OrNoneARecombinedMethodHasItsTrueNameEverywhere) {
  const Outcome trained = hewn(train("run", {"--epochs", "1", "--score", "magnitude", "--quiet"}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.out.find("sa++r with score=magnitude"), std::string::npos) << trained.out;
  EXPECT_EQ(Json::parse(read_file(folder_ / "run" / "summary.json"))["method"], "sa++r with score=magnitude");
  const Outcome report = hewn({"report", path("run"), "--json", "--no-latency"});
  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_EQ(Json::parse(report.out)["runs"][0]["method"], "sa++r with score=magnitude");
}

}  // namespace
}  // namespace hewn::test
