#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <vector>

#include "hewn/sweep/queue.h"

namespace hewn::sweep {

inline constexpr std::chrono::milliseconds kTick{20};

struct Worker {
  const Run* run = nullptr;
  pid_t pid = 0;
  size_t log_begin = 0;
};

/// The runs under way. None outlives it.
class Workers {
 public:
  Workers(const Folder& folder, const QueueOptions& options);
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  bool busy() const;
  bool has_room() const;

  /// Its folder is there and nobody else works in it.
  void start(const Run& run);
  /// Calls `ended` with each worker whose process has ended since, and its status.
  void reap(const std::function<void(const Worker&, int)>& ended);
  /// Asks all to end, and ends them where they do not.
  void stop(const std::function<void()>& meanwhile = [] {});
  /// Ends one run at once.
  void kill(const Run& run);

 private:
  void signal_all(int number) const;

  const Folder& folder_;
  const QueueOptions& options_;
  std::vector<Worker> workers_;
};

/// Moves a run that has ended without finishing to failed/. False where it did not fail but was stopped with
/// all others.
bool conclude(const Folder& folder, const Worker& worker, int status, const std::atomic<int>& stop);

}  // namespace hewn::sweep
