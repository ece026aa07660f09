// Disks of many sizes that fill up: exit 2 and one line, nothing lost, and a run that ends with the same bits
// once there is room.
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "hewn/core/files.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

using Words = std::vector<std::string>;
using Path = std::filesystem::path;

/// A disk of so many KiB, as long as this lives.
class Disk {
 public:
  Disk(Path folder, int64_t kib) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    mounted_ = mount("tmpfs", folder_.c_str(), "tmpfs", 0, size(kib).c_str()) == 0;
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  ~Disk() {
    if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  bool is_there() const { return mounted_; }
  void grow(int64_t kib) const {
    ASSERT_EQ(mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT, size(kib).c_str()), 0);
  }

 private:
  static std::string size(int64_t kib) { return "size=" + std::to_string(kib) + "k"; }

  Path folder_;
  bool mounted_ = false;
};

void expect_one_line(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  const auto begin = outcome.err.rfind("hewn: ");
  ASSERT_NE(begin, std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin() + static_cast<std::ptrdiff_t>(begin), outcome.err.end(), '\n'), 1)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("internal error"), std::string::npos) << outcome.err;
}

class FullDisk : public testing::Test {
 protected:
  void SetUp() override { write_tiny_mnist(folder_ / "data", 200, 40); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Words train(const std::string& run) const {
    return {"train",
            "--data",
            "mnist:" + path("data"),
            "--epochs",
            "6",
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
            "3",
            "--checkpoint-every",
            "7",
            "--sparse-execution",
            "off"};
  }

  TempFolder folder_;
};

TEST_F(FullDisk, SlowRunsGoOnToTheSameBits) {
  constexpr int64_t kEnough = 1 << 16;
  ASSERT_EQ(hewn(train("whole")).code, 0);
  int filled = 0;
  for (int64_t kib = 4; kib <= 700; kib += kib < 40 ? 4 : 30) {
    const std::string name = "disk" + std::to_string(kib);
    const Disk disk(folder_ / name, kib);
    if (!disk.is_there()) GTEST_SKIP() << "no right to mount a small disk";
    const std::string run = name + "/run";
    const Outcome first = hewn(train(run));
    if (first.code != 0) {
      ++filled;
      expect_one_line(first);
      disk.grow(kEnough);
      const bool begun = std::filesystem::exists(folder_ / run / "config.json");
      if (!begun) std::filesystem::remove_all(folder_ / run);
      const Outcome last =
          hewn(begun ? Words{"train", "--resume", "--quiet", "--out", path(run)} : train(run));
      ASSERT_EQ(last.code, 0) << kib << " " << last.err;
    }
    for (const char* file : {"model.safetensors", "metrics.jsonl", "supports/end.safetensors"})
      EXPECT_TRUE(read_file(folder_ / "whole" / file) == read_file(folder_ / run / file))
          << kib << " " << file;
  }
  EXPECT_GT(filled, 10);
  std::cerr << filled << " disks were full\n";
}

TEST_F(FullDisk, SlowOutputsAreWholeOrTheOldOnes) {
  ASSERT_EQ(hewn(train("run")).code, 0);
  for (const Words& words :
       {Words{"export", path("run"), "--to"}, Words{"report", path("run"), "--no-latency", "--out"}}) {
    const std::string name = words.front() == "export" ? "model.hewn" : "page.html";
    const Disk disk(folder_ / words.front(), 8);
    if (!disk.is_there()) GTEST_SKIP() << "no right to mount a small disk";
    const Path file = folder_ / words.front() / name;
    write_text(file, "old");
    Words call = words;
    call.push_back(file.string());
    expect_one_line(hewn(call));
    EXPECT_EQ(read_file(file), "old");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1) << name;
    disk.grow(1 << 16);
    ASSERT_EQ(hewn(call).code, 0);
    EXPECT_NE(read_file(file), "old");
  }
}

}  // namespace
}  // namespace hewn::test
