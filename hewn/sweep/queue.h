#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "hewn/sweep/folder.h"

namespace hewn::sweep {

/// Is told what goes on. All calls come from the thread that works the queue.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_start(const Run& /*run*/) {}
  /// After a run has finished or failed and its files are in place.
  virtual void on_end(const Run& /*run*/, State /*state*/) {}
  /// Some times a second.
  virtual void on_tick() {}
  /// Of a sweep that others have joined: how many runs they have under way. Every few seconds.
  virtual void on_others(int64_t /*running*/) {}
  /// Another has taken over a run of ours, since we were silent for too long.
  virtual void on_lost(const Run& /*run*/) {}
};

struct QueueOptions {
  int64_t workers = 1;
  int64_t threads = 1;
  std::vector<std::string> devices = {"cpu"};  // workers take them in turn
  bool wait = true;                            // for runs that others have under way
};

/// Runs what is waiting or interrupted, each as a process of this program, until all have ended or `stop` is
/// not 0. Then the runs under way are asked to end; they can be resumed. Runs that fail are moved to failed/.
void work(const Folder& folder, const std::vector<Run>& runs, const QueueOptions& options, Watcher& watcher,
          const std::atomic<int>& stop);

/// What hewn is called with for a run.
std::vector<std::string> train_arguments(const Folder& folder, const Run& run, const std::string& device,
                                         int64_t threads);

}  // namespace hewn::sweep
