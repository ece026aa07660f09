// Sweeps as a user runs them: killed, interrupted, failing, continued.
#include <gtest/gtest.h>

#include <csignal>
#include <random>

#include "hewn/core/json.h"
#include "tests/cli/sweep_fixture.h"
#include "tests/support/program.h"

namespace hewn::test {
namespace {

TEST_F(Sweep, SlowKilledAtFiveRandomMomentsLosesAndRepeatsNothing) {
  const std::string path = file("a.toml", kFourRuns);
  ASSERT_EQ(hewn(call(path, "whole")).code, 0);
  const int64_t all = logged("whole");
  std::mt19937 random(7);
  std::uniform_int_distribution<int> moment(0, 60);
  std::map<std::string, std::filesystem::file_time_type> done;
  for (int i = 0; i < 5; ++i) {
    const auto ready = [&] { return logged("killed") >= i * all / 6; };
    ASSERT_TRUE(hewn_killed_when(call(path, "killed"), ready, moment(random))) << i;
    if (i == 2) {  // Its runs end with it. Elsewhere the next sweep has to wait for them itself.
      for (const Path& run : runs("killed")) EXPECT_TRUE(let_go(run)) << run;
    }
    for (const auto& [name, time] : done) EXPECT_EQ(finished("killed")[name], time) << name;
    done = finished("killed");
  }
  const Outcome last = hewn(call(path, "killed", {"--json"}));
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(Json::parse(last.out)["counts"]["finished"], 4);
  for (const auto& [name, time] : done) EXPECT_EQ(finished("killed")[name], time) << name;
  ASSERT_EQ(runs("whole").size(), 4U);
  ASSERT_EQ(runs("killed").size(), 4U);
  for (const Path& run : runs("whole")) {
    EXPECT_EQ(read_file(run / "metrics.jsonl"),
              read_file(folder_ / "killed" / "runs" / run.filename() / "metrics.jsonl"))
        << run;
  }
  EXPECT_EQ(read_file(folder_ / "whole" / "table.md"), read_file(folder_ / "killed" / "table.md"));
}

TEST_F(Sweep, StopsInOrderOnASignalAndGoesOn) {
  const std::string path = file("a.toml", kFourRuns, 40);
  const auto ready = [&] { return logged("out") > 2000; };
  EXPECT_EQ(hewn_struck_when(call(path, "out"), ready, 0, SIGINT), 128 + SIGINT);
  for (const Path& run : runs("out")) EXPECT_TRUE(let_go(run)) << run;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out" / "failed"));
  EXPECT_EQ(runs("out").size(), 2U);
  const Json plan = Json::parse(hewn(call(path, "out", {"--dry-run", "--json"})).out);
  EXPECT_TRUE(plan[0]["state"] == "interrupted" || plan[1]["state"] == "interrupted") << plan;
  EXPECT_EQ(plan[3]["state"], "waiting");
}

TEST_F(Sweep, FailedRunsAreKeptApartAndTriedAgainOnlyWhenAsked) {
  const std::string path =
      file("a.toml", "[axes]\nmethod = [\"acdc\"]\n[variant.broken]\nlr = 1e30\nmethod = \"acdc\"\n", 1);
  const Outcome first = hewn(call(path, "out"));
  EXPECT_EQ(first.code, 1);
  EXPECT_NE(first.err.find("failed  broken  "), std::string::npos) << first.err;
  const Path log = folder_ / "out" / "failed" / "broken" / "log.txt";
  const std::string error = Json::parse(read_file(log.parent_path() / "failure.json"))["error"];
  EXPECT_NE(error.find("loss"), std::string::npos) << error;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out" / "runs" / "broken"));
  const Json results = Json::parse(read_file(folder_ / "out" / "results.json"));
  EXPECT_EQ(results["counts"]["finished"], 1);
  EXPECT_EQ(results["runs"][1]["error"], error);
  EXPECT_NE(read_file(folder_ / "out" / "table.md").find("- broken: " + error), std::string::npos);
  const auto size = std::filesystem::file_size(log);
  const Outcome second = hewn(call(path, "out"));
  EXPECT_EQ(second.code, 1);
  EXPECT_NE(second.err.find("--retry"), std::string::npos) << second.err;
  EXPECT_EQ(std::filesystem::file_size(log), size);
  EXPECT_EQ(hewn(call(path, "out", {"--retry"})).code, 1);
  EXPECT_GT(std::filesystem::file_size(log), size);
}

TEST_F(Sweep, GrowsWithItsFileButDoesNotMixOtherSettings) {
  ASSERT_EQ(hewn(call(file("a.toml", "[axes]\nmethod = [\"acdc\"]\nseed = [0]\n", 1), "out")).code, 0);
  const auto before = finished("out");
  const Outcome changed =
      hewn(call(file("a.toml", "[axes]\nmethod = [\"acdc\"]\nseed = [0, 1]\n", 2), "out"));
  EXPECT_EQ(changed.code, 2);
  EXPECT_NE(changed.err.find("a.toml: line 3: epochs: this sweep was begun with 1"), std::string::npos)
      << changed.err;
  ASSERT_EQ(hewn(call(file("a.toml", "[axes]\nmethod = [\"acdc\"]\nseed = [0, 1]\n", 1), "out")).code, 0);
  EXPECT_EQ(finished("out").size(), 2U);
  for (const auto& [name, time] : before) EXPECT_EQ(finished("out")[name], time);
  // The tables can be made again from the folder alone.
  const std::string table = read_file(folder_ / "out" / "table.md");
  std::filesystem::remove(folder_ / "out" / "table.md");
  const Outcome again = hewn({"sweep", "--results", (folder_ / "out").string()});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(read_file(folder_ / "out" / "table.md"), table);
  EXPECT_NE(again.out.find(table), std::string::npos);
}

TEST_F(Sweep, RefusesWhatCannotWorkBeforeAnythingRuns) {
  const auto refused = [&](const std::string& rest, const std::string& what,
                           const std::vector<std::string>& more = {}) {
    const Outcome outcome = hewn(call(file("b.toml", rest), "none", more));
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(what), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "none" / "runs"));
  };
  refused("[axes]\nmethod = [\"acdc\", \"sa+\"]\n", "b.toml: line 11: method: unknown name \"sa+\"");
  refused("[axes]\nseed = [1]\n", "device: expected cpu, cuda or cuda:N", {"--device", "gpu"});
  std::filesystem::create_directories(folder_ / "none");
  const FileLock lock(folder_ / "none" / ".lock");
  refused("[axes]\nseed = [1]\n", "another process is using this folder");
}

TEST_F(Sweep, ASizeHasAFolderOfItsOwnAndGoesOnWhereAFileOfThatSizeStopped) {
  // As files were before they had sizes: one of its own for the small one.
  const std::string rest = "[axes]\nmethod = [\"acdc\"]\nsparsity = [0.8]\nseed = [0]\n";
  ASSERT_EQ(hewn(call(file("table-small.toml", rest, 1), "out")).code, 0);
  Json old = Json::parse(read_file(folder_ / "out" / "sweep.json"));
  old.erase("name");
  old.erase("size");
  write_text(folder_ / "out" / "sweep.json", old.dump());
  const auto done = finished("out");

  const std::string sizes =
      "[size.paper.train]\nepochs = 9\n[size.small.axes]\nseed = [0, 1]\n[size.small.train]\nepochs = 1\n";
  const std::string path = file("table.toml", rest + sizes, 3);
  const Outcome more = hewn(call(path, "out", {"--size", "small"}));
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_TRUE(more.out.starts_with("# table-small\n")) << more.out;
  EXPECT_EQ(finished("out").size(), 2U);
  EXPECT_EQ(finished("out").at("acdc-sparsity0.8-seed0"), done.at("acdc-sparsity0.8-seed0"));
  EXPECT_EQ(Json::parse(read_file(folder_ / "out" / "sweep.json"))["size"], "small");
  const Outcome again = hewn({"sweep", "--results", (folder_ / "out").string()});
  EXPECT_EQ(again.out, more.out) << again.err;

  const Outcome other = hewn(call(path, "out"));
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("this sweep was begun at size small, now it is paper"), std::string::npos)
      << other.err;
  EXPECT_NE(hewn(call(path, "out", {"--size", "big"})).err.find("has no size \"big\"; known: paper, small"),
            std::string::npos);
}

}  // namespace
}  // namespace hewn::test
