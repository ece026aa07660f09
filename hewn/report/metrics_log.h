#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/report/series.h"

namespace hewn::report {

/// A phase that began with step `begin`.
struct PhaseMark {
  std::string phase;
  int64_t begin = 0;
};

/// What a run's metrics.jsonl says so far. Follows a file that is being written: each call of read_more takes
/// the lines that were completed since the last, and begins anew where a resumed run has cut the file.
class MetricsLog {
 public:
  explicit MetricsLog(std::filesystem::path path) : path_(std::move(path)) {}

  /// Whether there was anything new.
  bool read_more();

  int64_t step() const { return step_; }  // of the newest record; 0: none yet
  const std::vector<PhaseMark>& phases() const { return phases_; }
  const Series& loss() const { return loss_; }
  const Series& accuracy() const { return accuracy_; }
  const Series& rate() const { return rate_; }
  const Series& active() const { return active_; }  // mean over the pruned layers
  const Series& least_active() const { return least_active_; }
  const Series& most_active() const { return most_active_; }
  const std::map<std::string, Series>& tests() const { return tests_; }
  /// A sentence where lines are damaged; else empty.
  std::string problem() const;
  /// Whether the file ends inside a line: it is being written, or its writer was killed.
  bool torn() const { return torn_; }

 private:
  void take(const std::string& line);
  void take_training(const Json& record);

  std::filesystem::path path_;
  uint64_t file_ = 0;  // inode: a resumed run writes another file of that name
  uint64_t offset_ = 0;
  int64_t lines_ = 0;
  int64_t damaged_ = 0;
  int64_t first_damaged_ = 0;
  bool torn_ = false;
  int64_t step_ = 0;
  std::vector<PhaseMark> phases_;
  Series loss_, accuracy_, rate_, active_, least_active_, most_active_;
  std::map<std::string, Series> tests_;
};

}  // namespace hewn::report
