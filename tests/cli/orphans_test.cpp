// Signals to train, sweep, launch and to one rank: a checkpoint, the line that says how to go on, no process
// left behind, and a run that ends with the bits of one that was never stopped.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "tests/cli/sweep_fixture.h"
#include "tests/support/program.h"

namespace hewn::test {
namespace {

using Words = std::vector<std::string>;

Words launched(const Words& words) {
  Words out = {"launch", "-n", "2", "--"};
  out.insert(out.end(), words.begin(), words.end());
  return out;
}

/// Processes whose command line holds `mark`, by number; of one rank alone where that is asked for.
std::vector<pid_t> processes_with(const std::string& mark, int rank = -1) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(getpid()))
      continue;
    std::ifstream command(entry.path() / "cmdline");
    const std::string words((std::istreambuf_iterator<char>(command)), {});
    if (words.find(mark) == std::string::npos) continue;
    std::ifstream environment(entry.path() / "environ");
    const std::string variables((std::istreambuf_iterator<char>(environment)), {});
    const std::string wanted = "RANK=" + std::to_string(rank) + '\0';
    const bool is_rank = variables.starts_with(wanted) || variables.find('\0' + wanted) != std::string::npos;
    if (rank < 0 || (is_rank && words.find("launch") == std::string::npos)) found.push_back(std::stoi(name));
  }
  return found;
}

class Orphans : public Sweep {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Words train(const std::string& run) const {
    return {"train",       "--data",   "mnist:" + path("data"),
            "--epochs",    "60",       "--batch",
            "20",          "--widths", "64,64",
            "--block",     "4",        "--threads",
            "1",           "--out",    path(run),
            "--log-every", "5",        "--sparse-execution",
            "off"};
  }
  std::function<bool()> under_way(const std::string& run) const {
    return [file = folder_ / run / "metrics.jsonl"] {
      return std::filesystem::exists(file) && std::filesystem::file_size(file) > 1000;
    };
  }
  /// After at most ten seconds nobody is left that works on the run.
  void expect_nobody(const std::string& run) const {
    for (int i = 0; i < 100 && !processes_with(path(run)).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(processes_with(path(run)).empty()) << run;
  }
  void expect_checkpoint(const std::string& run) const {
    EXPECT_FALSE(std::filesystem::is_empty(folder_ / run / "checkpoints")) << run;
  }
  void expect_same(const std::string& a, const std::string& b) const {
    for (const char* name : {"model.safetensors", "metrics.jsonl"})
      EXPECT_TRUE(read_file(folder_ / a / name) == read_file(folder_ / b / name)) << b << " " << name;
  }
  void expect_goes_on(const Outcome& stopped, const std::string& run) const {
    EXPECT_NE(stopped.err.find("go on with: hewn train --resume --out " + path(run)), std::string::npos)
        << stopped.err;
  }
};

TEST_F(Orphans, RanksEndWithACheckpointWhenTheirLauncherIsKilled) {
  ASSERT_TRUE(hewn_killed_when(launched(train("run")), under_way("run"), 0));
  expect_nobody("run");
  expect_checkpoint("run");
}

TEST_F(Orphans, SlowEverySignalToTrain) {
  ASSERT_EQ(hewn(train("whole")).code, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string run = "run" + std::to_string(number);
    const Outcome stopped = hewn_signalled_when(train(run), under_way(run), number);
    EXPECT_EQ(stopped.code, 128 + number) << stopped.err;
    expect_goes_on(stopped, run);
    expect_nobody(run);
    expect_checkpoint(run);
    ASSERT_EQ(hewn({"train", "--resume", "--quiet", "--out", path(run)}).code, 0);
    expect_same("whole", run);
  }
}

TEST_F(Orphans, SlowEverySignalToLaunchAndToOneRank) {
  ASSERT_EQ(hewn(launched(train("whole"))).code, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    for (const bool one_rank : {false, true}) {
      const std::string run = "run" + std::to_string(number) + (one_rank ? "rank" : "");
      bool struck = false;
      const auto ready = [&] {
        if (!under_way(run)()) return false;
        if (!one_rank) return true;
        const std::vector<pid_t> rank = processes_with(path(run), 1);
        if (!struck && !rank.empty()) {
          kill(rank.front(), number);
          struck = true;
        }
        return false;  // launch itself gets no signal: it ends because its ranks do
      };
      const Outcome stopped = hewn_signalled_when(launched(train(run)), ready, number);
      EXPECT_EQ(stopped.code, 128 + number) << run << stopped.err;
      expect_goes_on(stopped, run);
      expect_nobody(run);
      expect_checkpoint(run);
      const Outcome last = hewn(launched({"train", "--resume", "--quiet", "--out", path(run)}));
      ASSERT_EQ(last.code, 0) << last.err;
      expect_same("whole", run);
    }
  }
}

TEST_F(Orphans, SlowEverySignalToASweep) {
  const std::string file = this->file("a.toml", kFourRuns, 30);
  ASSERT_EQ(hewn(call(file, "whole")).code, 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string out = "out" + std::to_string(number);
    const Outcome stopped = hewn_signalled_when(
        call(file, out), [&] { return logged(out) > 2000; }, number);
    EXPECT_EQ(stopped.code, 128 + number) << stopped.err;
    EXPECT_NE(stopped.err.find("goes on from here"), std::string::npos) << stopped.err;
    expect_nobody(out);
    int begun = 0;
    for (const Path& run : runs(out)) {
      if (std::filesystem::exists(run / "metrics.jsonl")) {
        expect_checkpoint(out + "/runs/" + run.filename().string());
        ++begun;
      }
    }
    EXPECT_GT(begun, 0);
    ASSERT_EQ(hewn(call(file, out)).code, 0);
    for (const Path& run : runs("whole")) {
      const std::string one = "/runs/" + run.filename().string();
      expect_same("whole" + one, out + one);
    }
  }
}

}  // namespace
}  // namespace hewn::test
