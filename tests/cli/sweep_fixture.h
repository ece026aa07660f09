#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {

using Path = std::filesystem::path;

/// Sweeps of runs that take a second.
class Sweep : public testing::Test {
 protected:
  void SetUp() override { write_tiny_mnist(folder_ / "data", 400, 100); }

  /// A file with small runs and these lines at its end.
  std::string file(const std::string& name, const std::string& rest, int epochs = 4) const {
    write_text(folder_ / name,
               "[train]\ndata = \"mnist:" + (folder_ / "data").string() +
                   "\"\nepochs = " + std::to_string(epochs) +
                   "\nbatch = 20\nwidths = [64, 64]\nblock = 4\nlog-every = 5\ncheckpoint-every = 7\n"
                   "sparse-execution = \"off\"\n" +
                   rest);
    return (folder_ / name).string();
  }
  std::vector<std::string> call(const std::string& path, const std::string& out,
                                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"sweep",     path, "--out",     (folder_ / out).string(),
                                      "--workers", "2",  "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::vector<Path> runs(const std::string& out) const {
    std::vector<Path> found;
    if (!std::filesystem::exists(folder_ / out / "runs")) return found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / out / "runs"))
      found.push_back(entry.path());
    return found;
  }
  /// Bytes in the logs of all runs.
  int64_t logged(const std::string& out) const {
    int64_t sum = 0;
    for (const Path& run : runs(out)) {
      std::error_code none;
      const auto size = std::filesystem::file_size(run / "metrics.jsonl", none);
      if (!none) sum += static_cast<int64_t>(size);
    }
    return sum;
  }
  /// When each run that is finished was finished.
  std::map<std::string, std::filesystem::file_time_type> finished(const std::string& out) const {
    std::map<std::string, std::filesystem::file_time_type> times;
    for (const Path& run : runs(out)) {
      if (std::filesystem::exists(run / "summary.json"))
        times[run.filename()] = std::filesystem::last_write_time(run / "summary.json");
    }
    return times;
  }

  TempFolder folder_;
};

inline constexpr const char* kFourRuns =
    "[axes]\nmethod = [\"acdc\", \"sa++r\"]\nsparsity = [0.8]\nseed = [0, 1]\n";

/// Whether nobody holds the lock of a run any more, now or within some seconds.
inline bool let_go(const Path& run) {
  if (!std::filesystem::exists(run / ".lock")) return true;
  for (int i = 0; i < 500; ++i) {
    try {
      const FileLock lock(run / ".lock");
      return true;
    } catch (const Error&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  return false;
}

}  // namespace hewn::test
