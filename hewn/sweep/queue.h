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
};

struct QueueOptions {
  int64_t workers = 1;
  int64_t threads = 1;
  std::vector<std::string> devices = {"cpu"};  // workers take them in turn
};

/// Runs what is waiting or interrupted, each as a process of this program, until all have ended or `stop` is
/// not 0. Then the runs under way are asked to end; they can be resumed. Runs that fail are moved to failed/.
void work(const Folder& folder, const std::vector<Run>& runs, const QueueOptions& options, Watcher& watcher,
          const std::atomic<int>& stop);

/// What hewn is called with for a run.
std::vector<std::string> train_arguments(const Folder& folder, const Run& run, const std::string& device,
                                         int64_t threads);

}  // namespace hewn::sweep
