// Two hundred kills at random moments: nothing is lost, and what is ended later has the same bits.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "hewn/core/files.h"
#include "tests/cli/sweep_fixture.h"
#include "tests/support/click_logs.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

using Words = std::vector<std::string>;

constexpr int kKills = 40;  // of each of five commands

class Kills : public Sweep {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Words train(const std::string& run, int epochs) const {
    return {"train",
            "--data",
            "mnist:" + path("data"),
            "--epochs",
            std::to_string(epochs),
            "--batch",
            "20",
            "--widths",
            "64,64",
            "--block",
            "4",
            "--threads",
            "1",
            "--quiet",
            "--out",
            path(run),
            "--log-every",
            "5",
            "--checkpoint-every",
            "7",
            "--sparse-execution",
            "off"};
  }
  /// Kills a program after up to so many milliseconds. True: it was killed, not done.
  bool kill_within(const Words& words, int milliseconds) {
    std::uniform_int_distribution<int> moment(0, milliseconds);
    return hewn_killed_when(
        words, [] { return true; }, moment(random_));
  }
  void expect_same(const std::string& a, const std::string& b) const {
    for (const char* name : {"model.safetensors", "metrics.jsonl", "supports/end.safetensors"})
      EXPECT_TRUE(read_file(folder_ / a / name) == read_file(folder_ / b / name)) << a << " " << b << name;
  }
  /// What a killed writer may leave beside its file, and nothing else.
  void expect_only(const Path& folder, const std::vector<std::string>& names) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      EXPECT_TRUE(name.starts_with(".hewn-") || std::find(names.begin(), names.end(), name) != names.end())
          << name;
    }
  }

  std::mt19937 random_{24};
};

TEST_F(Kills, SlowOfTraining) {
  ASSERT_EQ(hewn(train("whole", 30)).code, 0);
  int kills = 0;
  for (int run = 0; kills < kKills; ++run) {
    const std::string name = "run" + std::to_string(run);
    const auto words = [&] {
      return std::filesystem::exists(folder_ / name / "config.json")
                 ? Words{"train", "--resume", "--quiet", "--out", path(name)}
                 : train(name, 30);
    };
    while (kills < kKills && kill_within(words(), 1800)) ++kills;
    const Outcome last = hewn(words());
    ASSERT_EQ(last.code, 0) << last.err;
    expect_same("whole", name);
  }
}

TEST_F(Kills, SlowOfSweeps) {
  const std::string file = this->file("a.toml", kFourRuns);
  ASSERT_EQ(hewn(call(file, "whole")).code, 0);
  int kills = 0;
  for (int sweep = 0; kills < kKills; ++sweep) {
    const std::string name = "out" + std::to_string(sweep);
    while (kills < kKills && kill_within(call(file, name), 2500)) ++kills;
    const Outcome last = hewn(call(file, name));
    ASSERT_EQ(last.code, 0) << last.err;
    for (const Path& run : runs("whole")) {
      const std::string one = "/runs/" + run.filename().string();
      expect_same("whole" + one, name + one);
    }
    EXPECT_EQ(read_file(folder_ / "whole/table.md"), read_file(folder_ / name / "table.md"));
  }
}

TEST_F(Kills, SlowOfPrepare) {
  write_text(folder_ / "clicks.txt", criteo_rows(0, 60000));
  const auto prepare = [&](const std::string& cache) {
    return Words{"prepare", "--data", "criteo:" + path("clicks.txt"), "--cache", path(cache)};
  };
  const auto bytes = [&](const std::string& cache) {
    std::string out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / cache)) {
      // What was left behind would be seen here too.
      if (entry.is_regular_file()) out += read_file(entry.path());
    }
    return out;
  };
  const Outcome whole = hewn(prepare("whole"));
  ASSERT_EQ(whole.code, 0) << whole.err;
  int kills = 0;
  for (int cache = 0; kills < kKills; ++cache) {
    const std::string name = "cache" + std::to_string(cache);
    while (kills < kKills && kill_within(prepare(name), 700)) ++kills;
    const Outcome last = hewn(prepare(name));
    ASSERT_EQ(last.code, 0) << last.err;
    EXPECT_TRUE(bytes("whole") == bytes(name)) << name;
  }
}

TEST_F(Kills, SlowOfExportsAndReports) {
  ASSERT_EQ(hewn(train("run", 2)).code, 0);
  std::filesystem::create_directory(folder_ / "out");
  for (const Words& words : {Words{"export", path("run"), "--to", path("out/model.hewn")},
                             Words{"report", path("run"), "--no-latency", "--out", path("out/page.html")}}) {
    const Path file = words.back();
    int done = 0;
    for (int kills = 0; kills < kKills;) {
      if (kill_within(words, 1500)) {
        ++kills;
      } else {
        ++done;
      }
      // The file is there as a whole, or not at all.
      if (!std::filesystem::exists(file)) continue;
      const Outcome looked =
          file.extension() == ".hewn" ? hewn({"inspect", file.string()}) : Outcome{0, "", ""};
      EXPECT_EQ(looked.code, 0) << looked.err;
      if (file.extension() == ".html") {
        EXPECT_NE(read_file(file).find("</html>"), std::string::npos);
      }
      std::filesystem::remove(file);
    }
    EXPECT_EQ(hewn(words).code, 0);
    EXPECT_TRUE(std::filesystem::exists(file)) << done;
  }
  expect_only(folder_ / "out", {"model.hewn", "page.html"});
}

}  // namespace
}  // namespace hewn::test
