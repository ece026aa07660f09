// Damaged files through the program itself: exit 0, or 2 with one line, and never much memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "hewn/core/files.h"
#include "tests/hostile/mutate.h"
#include "tests/support/click_logs.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

using Words = std::vector<std::string>;

constexpr uint64_t kSeed = 20240608;
constexpr int64_t kMostKib = 1 << 20;

class Hostile : public testing::Test {
 protected:
  void SetUp() override {
    write_tiny_mnist(folder_ / "data", 200, 40);
    std::string rows = "a,b,y\n";
    for (int i = 0; i < 60; ++i)
      rows +=
          std::to_string(i % 11) + "," + std::to_string(i * i % 7) + "," + std::to_string(2 * i + 1) + "\n";
    write_text(folder_ / "t.csv", rows);
    write_text(folder_ / "c.toml",
               "data = \"mnist:" + path("data") +
                   "\"\nwidths = [16, 16]\nblock = 4\nmin-blocks = 4\nepochs = 2\nbatch = 20\n"
                   "[train]\nthreads = 1\nlr = 0.05\n");
    write_text(folder_ / "s.toml",
               "[train]\nepochs = 1\nwidths = [16]\n[axes]\nmethod = [\"dense\", \"acdc\"]\nseed = [0, 1]\n");
    write_text(folder_ / "clicks.txt", criteo_rows(0, 200));
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Runs a command on so many damaged forms of a file.
  void expect_calm(const std::string& file, const Words& words, int cases) {
    const std::string content = read_file(folder_ / file);
    for (int i = 0; i < cases; ++i) {
      const uint64_t seed = kSeed + static_cast<uint64_t>(done_++);
      write_text(folder_ / file, Mutator(seed).file(content));
      const Outcome outcome = hewn(words);
      const bool calm = outcome.code == 0 || outcome.code == 2;
      EXPECT_TRUE(calm) << file << " " << seed << " exit " << outcome.code << ": " << outcome.err;
      EXPECT_EQ(outcome.err.find("internal error"), std::string::npos) << file << " " << seed << outcome.err;
      if (outcome.code == 2) {
        const auto begin = outcome.err.rfind("hewn: ");
        EXPECT_NE(begin, std::string::npos) << file << " " << seed << outcome.err;
        EXPECT_EQ(
            std::count(outcome.err.begin() + static_cast<std::ptrdiff_t>(begin), outcome.err.end(), '\n'), 1)
            << file << " " << seed << outcome.err;
      }
      EXPECT_LT(outcome.peak_kib, kMostKib) << file << " " << seed;
      most_ = std::max(most_, outcome.peak_kib);
    }
    write_text(folder_ / file, content);
  }

  TempFolder folder_;
  int done_ = 0;
  int64_t most_ = 0;
};

TEST_F(Hostile, SlowFilesThroughTheProgram) {
  ASSERT_EQ(hewn({"select", path("t.csv"), "--to", path("selector.json")}).code, 0);
  expect_calm("t.csv", {"select", path("t.csv")}, 80);
  expect_calm("selector.json", {"predict", path("selector.json"), path("t.csv")}, 80);
  expect_calm("c.toml", {"train", "--config", path("c.toml"), "--help"}, 80);
  expect_calm("clicks.txt", {"prepare", "--data", "criteo:" + path("clicks.txt"), "--cache", path("cache")},
              40);
  expect_calm("s.toml", {"sweep", path("s.toml"), "--dry-run"}, 40);
  const Outcome trained = hewn({"train", "--config", path("c.toml"), "--quiet", "--out", path("run")});
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(hewn({"export", path("run"), "--to", path("model.hewn")}).code, 0);
  for (const char* name : {"config.json", "summary.json", "model.safetensors", "metrics.jsonl"}) {
    const std::string file = std::string("run/") + name;
    expect_calm(file, {"report", path("run"), "--no-latency", "--json"}, 10);
    expect_calm(file, {"train", "--resume", "--quiet", "--out", path("run")}, 5);
    expect_calm(file, {"inspect", path("run")}, 5);
  }
  expect_calm("model.hewn", {"inspect", path("model.hewn")}, 20);
  std::cerr << done_ << " cases, at most " << most_ / 1024 << " MiB\n";
}

}  // namespace
}  // namespace hewn::test
