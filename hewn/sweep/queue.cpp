#include "hewn/sweep/queue.h"

#include <chrono>
#include <thread>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/sweep/workers.h"

namespace hewn::sweep {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kLockPatience{30};  // for a run whose sweep was killed

/// A run of a sweep that was killed dies with it, but not at once.
void wait_for_lock(const std::filesystem::path& run, const std::atomic<int>& stop) {
  const std::filesystem::path path = run / ".lock";
  if (!is_there(path)) return;
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
      const std::filesystem::path place = folder.run(queue[next]->name);
      make_writable_folder(place);
      wait_for_lock(place, stop);
      if (stop == 0) workers.start(*queue[next]);
      watcher.on_start(*queue[next++]);
    }
    workers.reap([&](const Worker& worker, int status) {
      if (!conclude(folder, worker, status, stop)) return;
      watcher.on_end(*worker.run, folder.state(worker.run->name));
    });
    watcher.on_tick();
    std::this_thread::sleep_for(kTick);
  }
}

std::vector<std::string> train_arguments(const Folder& folder, const Run& run, const std::string& device,
                                         int64_t threads) {
  std::vector<std::string> words = {"train"};
  // A run that was begun has its options in its config.json, where names may be spelled out.
  if (folder.state(run.name) == State::kInterrupted) {
    words.emplace_back("--resume");
  } else {
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
