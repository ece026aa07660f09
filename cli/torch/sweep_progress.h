#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "hewn/sweep/queue.h"
#include "hewn/sweep/results.h"

namespace hewn::cli {

struct ProgressOptions {
  bool quiet = false;
  bool joined = false;  // others work on it too, and the tables wait for the last run
};

/// Shows a sweep on standard error, as a bar on a terminal and as lines elsewhere, and rewrites its tables
/// whenever a run has ended.
class SweepProgress final : public sweep::Watcher {
 public:
  SweepProgress(const sweep::Spec& spec, const std::vector<sweep::Run>& runs, const sweep::Folder& folder,
                ProgressOptions options);
  ~SweepProgress() override;
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

  void on_start(const sweep::Run& run) override;
  void on_end(const sweep::Run& run, sweep::State state) override;
  void on_tick() override;
  void on_others(int64_t running) override;
  void on_lost(const sweep::Run& run) override;

  void line(const std::string& text);
  void wipe();  // the bar, before something else is printed
  const sweep::Results& results() const { return results_; }

 private:
  using Clock = std::chrono::steady_clock;

  void refresh();
  std::string left() const;
  size_t number_of(const sweep::Run& run) const { return static_cast<size_t>(&run - runs_.data()); }

  const sweep::Spec& spec_;
  const std::vector<sweep::Run>& runs_;
  const sweep::Folder& folder_;
  ProgressOptions options_;
  bool is_terminal_;
  bool bar_shown_ = false;
  int64_t elsewhere_ = 0;                        // runs that others have under way
  std::map<size_t, Clock::time_point> running_;  // since when, by the number of the run
  Clock::time_point drawn_;
  sweep::Results results_;
};

}  // namespace hewn::cli
