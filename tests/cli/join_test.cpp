// Sweeps that several processes work on, some of which die.
#include <csignal>
#include <random>
#include <set>

#include "hewn/core/json.h"
#include "tests/cli/sweep_fixture.h"
#include "tests/support/program.h"

namespace hewn::test {
namespace {

class JoinedSweep : public Sweep {
 protected:
  /// The leases of a run, the last one at the end.
  std::vector<Json> leases(const Path& run) const {
    std::vector<Json> found;
    const Path place = run.parent_path().parent_path() / "leases" / "runs" / run.filename();
    for (;;) {
      const Path path = place / (std::to_string(found.size() + 1) + ".json");
      if (!std::filesystem::exists(path)) return found;
      found.push_back(Json::parse(read_file(path), nullptr, false));
    }
  }
  /// Living processes that hold a run.
  size_t holders(const std::string& out) const {
    std::set<int> alive;
    for (const Path& run : runs(out)) {
      const std::vector<Json> all = leases(run);
      if (all.empty() || !all.back().is_object() || !all.back()["held"].get<bool>()) continue;
      const int pid = all.back()["pid"].get<int>();
      if (::kill(pid, 0) == 0) alive.insert(pid);
    }
    return alive.size();
  }
};

/// How often a text has this in it.
int64_t count(const std::string& text, const std::string& what) {
  int64_t found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST_F(JoinedSweep, RunsEverythingOnceThoughAJoinerIsKilledThreeTimes) {
  const std::string path = file("a.toml", kFourRuns, 6);
  const Outcome whole = hewn(call(path, "whole"));
  const std::vector<std::string> join = call(path, "joint", {"--join", "--workers", "1"});
  Outcome steady;
  std::thread other([&] { steady = hewn(join); });
  std::mt19937 random(11);
  std::uniform_int_distribution<int> moment(0, 200);
  int kills = 0;
  for (int i = 0; i < 3; ++i) {
    const auto ready = [&] { return holders("joint") == 2; };
    if (hewn_killed_when(join, ready, moment(random))) ++kills;
  }
  EXPECT_GE(kills, 2);  // the other may have done all the rest before the third
  const Outcome last = hewn(join);
  other.join();
  for (const Outcome& outcome : {steady, last}) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out.substr(0, outcome.out.find("\nin ")), whole.out.substr(0, whole.out.find("\nin ")));
  }
  EXPECT_EQ(read_file(folder_ / "whole" / "table.md"), read_file(folder_ / "joint" / "table.md"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "joint" / "failed"));
  ASSERT_EQ(runs("joint").size(), 4U);
  for (const Path& run : runs("joint")) {
    EXPECT_EQ(read_file(run / "metrics.jsonl"),
              read_file(folder_ / "whole" / "runs" / run.filename() / "metrics.jsonl"));
    // Whoever holds a lease starts the run at most once, and only one of them ended it.
    const std::string log = read_file(run / "log.txt");
    EXPECT_EQ(count(log, "run folder: "), 1) << log;
    EXPECT_LE(count(log, "method "), static_cast<int64_t>(leases(run).size())) << log;
  }
}

TEST_F(JoinedSweep, EndsRunsThatOthersTookAndLetsGoOfTheRestWhenStopped) {
  const std::string path = file("a.toml", kFourRuns, 80);
  const std::string taken = "acdc-sparsity0.8-seed0";
  const Path lock = folder_ / "out" / "runs" / taken / ".lock";
  const Path lease = folder_ / "out" / "leases" / "runs" / taken / "2.json";
  const auto ready = [&] {
    if (logged("out") > 4000 && is_locked(lock) && !std::filesystem::exists(lease)) {
      write_text(lease, R"({"machine": "another", "pid": 1, "token": "theirs", "held": true})");
    }
    return std::filesystem::exists(lease) && !is_locked(lock);
  };
  const std::vector<std::string> join = call(path, "out", {"--join", "--patience", "5"});
  EXPECT_EQ(hewn_struck_when(join, ready, 0, SIGTERM), 128 + SIGTERM);
  EXPECT_EQ(leases(folder_ / "out" / "runs" / taken).size(), 2U);
  for (const Path& run : runs("out")) {
    EXPECT_TRUE(let_go(run)) << run;
    EXPECT_FALSE(std::filesystem::exists(run / "summary.json")) << run;
    EXPECT_EQ(leases(run)[0]["held"], false) << leases(run)[0];
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out" / "failed"));
}

TEST_F(JoinedSweep, SlowNeedsTheSameFileAndAFolderOfItsOwn) {
  const std::string rest =
      "[axes]\nmethod = [\"acdc\"]\nseed = [0, 1]\n[variant.broken]\nlr = 1e30\nmethod = \"acdc\"\n";
  const std::string path = file("a.toml", rest + "[[exclude]]\nmethod = \"broken\"\nseed = 1\n", 1);
  // Somebody elsewhere holds a run.
  const Path lease = folder_ / "out" / "leases" / "runs" / "acdc-seed1" / "1.json";
  std::filesystem::create_directories(lease.parent_path());
  write_text(lease, R"({"machine": "another", "pid": 1, "token": "theirs", "held": true})");
  const Outcome early = hewn(call(path, "out", {"--join", "--no-wait"}));
  EXPECT_EQ(early.code, 1) << early.err;
  EXPECT_NE(early.err.find("others still work on the rest"), std::string::npos) << early.err;
  EXPECT_NE(early.out.find("1 of 3 runs"), std::string::npos) << early.out;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out" / "table.md"));

  const auto refused = [&](const std::vector<std::string>& words, const std::string& what) {
    const Outcome outcome = hewn(words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(what), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  };
  const std::string record = read_file(folder_ / "out" / "sweep.json");
  refused(call(path, "out"), "this sweep was begun with --join");
  refused(call(path, "none", {"--no-wait"}), "wait: is for sweeps that others join; add --join");
  refused(call(path, "none", {"--join", "--patience", "1"}), "patience: expected 5 to 86400, got 1");
  refused(call(file("b.toml", rest, 1), "out", {"--join"}), "b.toml: run broken-seed1 is not in the sweep");
  refused(call(file("c.toml", rest, 2), "out", {"--join"}), "c.toml: ");
  EXPECT_EQ(read_file(folder_ / "out" / "sweep.json"), record);
  std::filesystem::create_directories(folder_ / "taken");
  const FileLock lock(folder_ / "taken" / ".lock");
  refused(call(path, "taken", {"--join"}), "another process is using this folder");

  write_text(lease, R"({"held": false})");
  const Outcome late = hewn(call(path, "out", {"--join"}));
  EXPECT_EQ(late.code, 1);
  EXPECT_NE(late.out.find("2 of 3 runs"), std::string::npos) << late.out;
  EXPECT_EQ(count(read_file(folder_ / "out" / "failed" / "broken-seed0" / "log.txt"), "method "), 1);
  EXPECT_EQ(hewn({"sweep", "--results", (folder_ / "out").string()}).out, late.out);
}

}  // namespace
}  // namespace hewn::test
