// A run that is killed again and again ends with the same bits as one that is left alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <random>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/io/safetensors.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

class Resume : public testing::Test {
 protected:
  void SetUp() override { write_tiny_mnist(folder_ / "data", 1000, 100); }

  std::vector<std::string> train(const std::string& run, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"train",
                                      "--quiet",
                                      "--json",
                                      "--data",
                                      "mnist:" + (folder_ / "data").string(),
                                      "--epochs",
                                      "9",
                                      "--batch",
                                      "50",
                                      "--widths",
                                      "128,128",
                                      "--block",
                                      "8",
                                      "--sparsity",
                                      "0.9",
                                      "--threads",
                                      "2",
                                      "--log-every",
                                      "7",
                                      "--checkpoint-every",
                                      "20",
                                      "--out",
                                      (folder_ / run).string()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Begins a run, or goes on with one that was killed.
  std::vector<std::string> go_on(const std::string& run, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = train(run, more);
    if (std::filesystem::exists(folder_ / run / "config.json")) words.emplace_back("--resume");
    return words;
  }

  static Json without_time(const std::string& text) {
    Json json = Json::parse(text);
    for (const char* key : {"seconds", "dense_seconds"}) json.erase(key);
    return json;
  }

  void expect_same(const std::string& a, const std::string& b) const {
    for (const char* name : {"model.safetensors", "metrics.jsonl"}) {
      EXPECT_EQ(read_file(folder_ / a / name), read_file(folder_ / b / name)) << name;
    }
    int records = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / a / "supports")) {
      const std::string name = entry.path().filename().string();
      EXPECT_EQ(read_file(entry.path()), read_file(folder_ / b / "supports" / name)) << name;
      ++records;
    }
    EXPECT_GT(records, 1);
    EXPECT_EQ(without_time(read_file(folder_ / a / "summary.json")),
              without_time(read_file(folder_ / b / "summary.json")));
  }

  /// Lines of a run's log so far.
  int64_t lines(const std::string& run) const {
    const auto path = folder_ / run / "metrics.jsonl";
    if (!std::filesystem::exists(path)) return 0;
    const std::string text = read_file(path);
    return static_cast<int64_t>(std::count(text.begin(), text.end(), '\n'));
  }

  /// Kills a run with those options three times and compares it with one that was left alone.
  void expect_survives(const std::vector<std::string>& options) const {
    ASSERT_EQ(hewn(train("whole", options)).code, 0);
    const int64_t all = lines("whole");
    // On a busy machine a run may end before the kill reaches it: then all three are tried again.
    int killed = 0;
    for (int attempt = 0; attempt < 5 && killed < 3; ++attempt) {
      test::remove_tree(folder_ / "killed");
      killed = 0;
      for (int i = 1; i <= 3; ++i) {
        const auto ready = [&] { return lines("killed") >= i * all / 6; };
        killed += hewn_killed_when(go_on("killed", options), ready, i) ? 1 : 0;
      }
    }
    ASSERT_EQ(killed, 3);
    ASSERT_EQ(hewn(go_on("killed", options)).code, 0);
    expect_same("whole", "killed");
  }

  TempFolder folder_;
};

TEST_F(Resume, OnKeptBlocksToo) { expect_survives({"--sparse-execution", "on"}); }

TEST_F(Resume, SlowAveragesAndBatchesInPartsToo) {
  expect_survives({"--ema", "0.9", "--accumulate", "3", "--precision", "bf16"});
}

TEST_F(Resume, SlowWhatAScoreHasSeenToo) {
  expect_survives({"--method", "acdc", "--score", "reconstruction"});
}

TEST_F(Resume, SlowKilledAtTenRandomMomentsEqualsUninterrupted) {
  ASSERT_EQ(hewn(train("whole")).code, 0);
  // Each kill waits until the log has grown past its own tenth, then strikes a random moment later.
  const int64_t all = lines("whole");
  std::mt19937 random(20);
  std::uniform_int_distribution<int> moment(0, 25);
  int killed = 0;
  for (int i = 0; i < 10; ++i) {
    const auto ready = [&] { return lines("killed") >= i * (all - 10) / 10; };
    killed += hewn_killed_when(go_on("killed"), ready, moment(random)) ? 1 : 0;
  }
  const Outcome last = hewn(go_on("killed"));
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(killed, 10);
  expect_same("whole", "killed");
}

TEST_F(Resume, DamagedCheckpointsAreSkippedAndSaid) {
  ASSERT_EQ(hewn(train("whole")).code, 0);
  ASSERT_EQ(hewn(train("again")).code, 0);
  // As if it had been killed after its last checkpoints: the newest is damaged, the one before is whole.
  std::filesystem::remove(folder_ / "again" / "summary.json");
  std::filesystem::remove(folder_ / "again" / "model.safetensors");
  const auto newest = folder_ / "again" / "checkpoints" / "step-180.safetensors";
  std::string bytes = read_file(newest);
  write_text(newest, bytes.substr(0, bytes.size() / 3));
  std::vector<std::string> words = train("again", {"--resume"});
  words.erase(std::find(words.begin(), words.end(), "--quiet"));
  const Outcome outcome = hewn(words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("step-180.safetensors"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("resuming after step 160"), std::string::npos) << outcome.err;
  expect_same("whole", "again");
}

TEST_F(Resume, TheSameSeedGivesTheSameBitsAndAnotherSeedDoesNot) {
  ASSERT_EQ(hewn(train("a", {"--method", "acdc"})).code, 0);
  ASSERT_EQ(hewn(train("b", {"--method", "acdc"})).code, 0);
  ASSERT_EQ(hewn(train("c", {"--method", "acdc", "--seed", "1"})).code, 0);
  expect_same("a", "b");
  EXPECT_NE(read_file(folder_ / "a" / "model.safetensors"), read_file(folder_ / "c" / "model.safetensors"));
}

TEST_F(Resume, TrainingsThatBeginTogetherTakeFoldersOfTheirOwn) {
  std::vector<std::string> words = train("unused");
  const auto out = std::find(words.begin(), words.end(), "--out");
  words.erase(out, out + 2);
  *(std::find(words.begin(), words.end(), "--epochs") + 1) = "1";
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  std::vector<std::future<Outcome>> both;
  for (int i = 0; i < 2; ++i) both.push_back(hewn_started(words));
  std::filesystem::current_path(before);
  for (auto& one : both) {
    const Outcome outcome = one.get();
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  std::vector<std::filesystem::path> runs;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "runs"))
    runs.push_back(entry.path());
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_TRUE(read_file(runs[0] / "model.safetensors") == read_file(runs[1] / "model.safetensors"));
}

TEST_F(Resume, SlowEightEmptyHomesGiveTheSameBits) {
  const char* home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  for (int i = 0; i < 8; ++i) {
    const std::string fresh = (folder_ / ("home" + std::to_string(i))).string();
    std::filesystem::create_directory(fresh);
    setenv("HOME", fresh.c_str(), 1);
    ASSERT_EQ(hewn(train("run" + std::to_string(i))).code, 0);
    expect_same("run0", "run" + std::to_string(i));
  }
  setenv("HOME", before.c_str(), 1);
}

TEST_F(Resume, ASecondProcessIsKeptOut) {
  ASSERT_EQ(hewn(train("run")).code, 0);
  std::filesystem::remove(folder_ / "run" / "summary.json");
  const FileLock lock(folder_ / "run" / ".lock");
  const Outcome outcome = hewn(train("run", {"--resume"}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("another process"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace hewn::test
