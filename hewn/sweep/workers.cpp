#include "hewn/sweep/workers.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "hewn/core/files.h"
#include "hewn/sweep/process.h"

namespace hewn::sweep {
namespace {

constexpr std::chrono::milliseconds kSignalDelay{200};
constexpr std::chrono::seconds kGrace{60};  // for a run that is asked to end and writes a checkpoint

bool asked_to_end(int status) {
  const int number = signal_in(status);
  return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

/// What to remember of a run that ended otherwise than by finishing.
std::string reason(const Folder& folder, const Worker& worker, int status) {
  std::string said = last_line(folder.log(worker.run->name), worker.log_begin);
  const std::string became = fate(status);
  if (signal_in(status) == 0 && WEXITSTATUS(status) != 0 && !said.empty()) return said;
  return became.empty() ? "ended without a summary.json" : became;
}

}  // namespace

Workers::Workers(const Folder& folder, const QueueOptions& options)
    : folder_(folder), options_(options), workers_(static_cast<size_t>(options.workers)) {}

bool Workers::busy() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.pid != 0; });
}

bool Workers::has_room() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.pid == 0; });
}

void Workers::start(const Run& run) {
  size_t number = 0;
  while (workers_[number].pid != 0) ++number;
  const std::filesystem::path log = folder_.log(run.name);
  Worker& worker = workers_[number];
  worker.run = &run;
  worker.log_begin = is_there(log) ? std::filesystem::file_size(log) : 0;
  const std::string& device = options_.devices[number % options_.devices.size()];
  worker.pid = start_program(train_arguments(folder_, run, device, options_.threads), log);
}

void Workers::reap(const std::function<void(const Worker&, int)>& ended) {
  for (Worker& worker : workers_) {
    int status = 0;
    if (worker.pid == 0 || ::waitpid(worker.pid, &status, WNOHANG) != worker.pid) continue;
    worker.pid = 0;
    ended(worker, status);
  }
}

void Workers::stop(const std::function<void()>& meanwhile) {
  signal_all(SIGTERM);
  const auto end = std::chrono::steady_clock::now() + kGrace;
  while (busy()) {
    reap([](const Worker&, int) {});
    if (std::chrono::steady_clock::now() > end) signal_all(SIGKILL);
    if (!busy()) return;
    meanwhile();
    std::this_thread::sleep_for(kTick);
  }
}

void Workers::kill(const Run& run) {
  for (Worker& worker : workers_) {
    if (worker.pid == 0 || worker.run != &run) continue;
    ::kill(worker.pid, SIGKILL);
    ::waitpid(worker.pid, nullptr, 0);
    worker.pid = 0;
  }
}

void Workers::signal_all(int number) const {
  for (const Worker& worker : workers_) {
    if (worker.pid != 0) ::kill(worker.pid, number);
  }
}

bool conclude(const Folder& folder, const Worker& worker, int status, const std::atomic<int>& stop) {
  if (folder.state(worker.run->name) == State::kFinished) return true;
  // A signal to the whole group, as from a terminal, reaches runs and sweep alike, in any order: nothing
  // failed.
  if (asked_to_end(status) && stop == 0) std::this_thread::sleep_for(kSignalDelay);
  if (signal_in(status) != 0 && stop != 0) return false;
  folder.keep_apart(worker.run->name, reason(folder, worker, status));
  return true;
}

}  // namespace hewn::sweep
