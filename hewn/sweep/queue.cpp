#include "hewn/sweep/queue.h"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/sweep/process.h"

namespace hewn::sweep {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{20};
constexpr std::chrono::milliseconds kSignalDelay{200};
constexpr std::chrono::seconds kGrace{10};         // for a run that is asked to end
constexpr std::chrono::seconds kLockPatience{30};  // for a run whose sweep was killed

struct Worker {
  const Run* run = nullptr;
  pid_t pid = 0;
  size_t log_begin = 0;
};

/// A run of a sweep that was killed dies with it, but not at once.
void wait_for_lock(const std::filesystem::path& run, const std::atomic<int>& stop) {
  const std::filesystem::path path = run / ".lock";
  if (!std::filesystem::exists(path)) return;
  for (const Clock::time_point end = Clock::now() + kLockPatience;;) {
    try {
      const FileLock lock(path);
      return;
    } catch (const Error&) {
      if (Clock::now() > end) throw;
    }
    if (stop != 0) return;
    std::this_thread::sleep_for(kTick);
  }
}

/// The runs under way. None outlives it.
class Workers {
 public:
  Workers(const Folder& folder, const QueueOptions& options)
      : folder_(folder), options_(options), workers_(static_cast<size_t>(options.workers)) {}
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  bool busy() const {
    return std::any_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.pid != 0; });
  }
  bool has_room() const {
    return std::any_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.pid == 0; });
  }

  /// Nothing where the sweep is stopped meanwhile.
  void start(const Run& run, const std::atomic<int>& stop) {
    size_t number = 0;
    while (workers_[number].pid != 0) ++number;
    const std::filesystem::path place = folder_.run(run.name);
    make_writable_folder(place);
    wait_for_lock(place, stop);
    if (stop != 0) return;
    const std::filesystem::path log = folder_.log(run.name);
    Worker& worker = workers_[number];
    worker.run = &run;
    worker.log_begin = std::filesystem::exists(log) ? std::filesystem::file_size(log) : 0;
    const std::string& device = options_.devices[number % options_.devices.size()];
    worker.pid = start_program(train_arguments(folder_, run, device, options_.threads), log);
  }

  /// Calls `ended` with each worker whose process has ended since, and its status.
  template <class Ended>
  void reap(const Ended& ended) {
    for (Worker& worker : workers_) {
      int status = 0;
      if (worker.pid == 0 || ::waitpid(worker.pid, &status, WNOHANG) != worker.pid) continue;
      worker.pid = 0;
      ended(worker, status);
    }
  }

  void stop() {
    signal_all(SIGTERM);
    const Clock::time_point end = Clock::now() + kGrace;
    while (busy()) {
      reap([](const Worker&, int) {});
      if (Clock::now() > end) signal_all(SIGKILL);
      if (busy()) std::this_thread::sleep_for(kTick);
    }
  }

 private:
  void signal_all(int number) const {
    for (const Worker& worker : workers_) {
      if (worker.pid != 0) ::kill(worker.pid, number);
    }
  }

  const Folder& folder_;
  const QueueOptions& options_;
  std::vector<Worker> workers_;
};

bool asked_to_end(int status) {
  if (!WIFSIGNALED(status)) return false;
  const int number = WTERMSIG(status);
  return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

/// What to remember of a run that ended otherwise than by finishing.
std::string reason(const Folder& folder, const Worker& worker, int status) {
  std::string said = last_line(folder.log(worker.run->name), worker.log_begin);
  const std::string became = fate(status);
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0 && !said.empty()) return said;
  return became.empty() ? "ended without a summary.json" : became;
}

}  // namespace

void work(const Folder& folder, const std::vector<Run>& runs, const QueueOptions& options, Watcher& watcher,
          const std::atomic<int>& stop) {
  std::vector<const Run*> queue;
  for (const Run& run : runs) {
    const State state = folder.state(run.name);
    if (state == State::kWaiting || state == State::kInterrupted) queue.push_back(&run);
  }
  Workers workers(folder, options);
  for (size_t next = 0; (next < queue.size() || workers.busy()) && stop == 0;) {
    while (next < queue.size() && workers.has_room() && stop == 0) {
      workers.start(*queue[next], stop);
      watcher.on_start(*queue[next++]);
    }
    workers.reap([&](const Worker& worker, int status) {
      const std::string& name = worker.run->name;
      if (folder.state(name) != State::kFinished) {
        // A signal to the whole group, as from a terminal, reaches runs and sweep alike, in any order:
        // nothing failed.
        if (asked_to_end(status) && stop == 0) std::this_thread::sleep_for(kSignalDelay);
        if (WIFSIGNALED(status) && stop != 0) return;
        folder.keep_apart(name, reason(folder, worker, status));
      }
      watcher.on_end(*worker.run, folder.state(name));
    });
    watcher.on_tick();
    std::this_thread::sleep_for(kTick);
  }
}

std::vector<std::string> train_arguments(const Folder& folder, const Run& run, const std::string& device,
                                         int64_t threads) {
  std::vector<std::string> words = {"train", "--resume"};
  // A run that was begun has its options in its config.json, where names may be spelled out.
  if (folder.state(run.name) != State::kInterrupted) {
    words.emplace_back("--no-compare-dense");
    if (!run.options.contains("keep-checkpoints")) words.emplace_back("--keep-checkpoints=1");
    for (const auto& [key, text] : run.options) {
      words.push_back(text.empty() ? "--" + key : str("--", key, "=", text));
      if (text.empty()) words.emplace_back();  // "--key=" would take the next word for its value
    }
  }
  words.push_back(str("--device=", device));
  words.push_back(str("--threads=", threads));
  words.push_back("--out=" + folder.run(run.name).string());
  return words;
}

}  // namespace hewn::sweep
