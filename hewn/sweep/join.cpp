#include "hewn/sweep/join.h"

#include <algorithm>
#include <map>
#include <thread>

#include "hewn/core/files.h"
#include "hewn/sweep/tables.h"
#include "hewn/sweep/workers.h"

namespace hewn::sweep {
namespace {

constexpr std::chrono::milliseconds kLookEvery{500};  // for runs that have become free
constexpr std::chrono::seconds kCountEvery{5};        // what others run

std::string lease_of(const Run& run) { return "runs/" + run.name; }

bool has_ended(State state) { return state == State::kFinished || state == State::kFailed; }

/// What became of a run whose lease we hold. A client of NFS may not know yet what its last holder did;
/// making a file in a folder lets it look anew.
State look_again(const Folder& folder, const Run& run) {
  make_writable_folder(folder.path);
  const std::filesystem::path failed = folder.failed(run.name).parent_path();
  if (is_there(failed)) make_writable_folder(failed);
  if (is_there(folder.failed(run.name))) return State::kFailed;
  make_writable_folder(folder.run(run.name));
  folder.settle({run});
  return folder.state(run.name);
}

class Joiner {
 public:
  Joiner(const Folder& folder, Leases& leases, const std::vector<Run>& runs, const QueueOptions& options,
         Watcher& watcher, const std::atomic<int>& stop)
      : folder_(folder),
        leases_(leases),
        runs_(runs),
        options_(options),
        watcher_(watcher),
        stop_(stop),
        finished_(runs.size(), false),
        workers_(folder, options) {}

  bool work() {
    while (stop_ == 0) {
      if (steady_now() >= next_look_) {
        look();
        if (!workers_.busy() && (open_ == 0 || !options_.wait)) break;
      }
      workers_.reap([&](const Worker& worker, int status) { end(worker, status); });
      renew();
      watcher_.on_tick();
      std::this_thread::sleep_for(kTick);
    }
    workers_.stop([&] { renew(); });
    return stop_ == 0 && open_ == 0;
  }

 private:
  using Time = std::chrono::steady_clock::time_point;
  static Time steady_now() { return std::chrono::steady_clock::now(); }

  /// Begins what nobody works on, as far as there is room.
  void look() {
    next_look_ = steady_now() + kLookEvery;
    const bool counts = steady_now() >= next_count_;
    if (counts) next_count_ = steady_now() + kCountEvery;
    open_ = 0;
    int64_t elsewhere = 0;
    for (size_t i = 0; i < runs_.size() && stop_ == 0; ++i) {
      if (finished_[i]) continue;
      const State state = folder_.state(runs_[i].name);
      finished_[i] = state == State::kFinished;
      if (has_ended(state)) continue;
      ++open_;
      if (held_.contains(&runs_[i])) continue;
      if (workers_.has_room()) begin(runs_[i]);
      renew();
      if (counts && !held_.contains(&runs_[i]) && leases_.is_held(lease_of(runs_[i]))) ++elsewhere;
    }
    if (counts) watcher_.on_others(elsewhere);
  }

  void begin(const Run& run) {
    // The run of a joiner that was killed dies with it, but not at once.
    const std::filesystem::path lock = folder_.run(run.name) / ".lock";
    if (is_locked(lock)) return;
    std::optional<Lease> lease = leases_.claim(lease_of(run));
    if (!lease || has_ended(look_again(folder_, run)) || is_locked(lock)) return;
    held_.emplace(&run, std::move(*lease));
    workers_.start(run);
    watcher_.on_start(run);
  }

  void end(const Worker& worker, int status) {
    const Run& run = *worker.run;
    next_look_ = steady_now();
    const bool ours = held_.at(&run).confirm();
    if (!ours) {
      watcher_.on_lost(run);
    } else if (conclude(folder_, worker, status, stop_)) {
      watcher_.on_end(run, folder_.state(run.name));
    }
    held_.erase(&run);
  }

  void renew() {
    for (auto one = held_.begin(); one != held_.end();) {
      if (one->second.renew()) {
        ++one;
        continue;
      }
      workers_.kill(*one->first);
      watcher_.on_lost(*one->first);
      one = held_.erase(one);
    }
  }

  const Folder& folder_;
  Leases& leases_;
  const std::vector<Run>& runs_;
  const QueueOptions& options_;
  Watcher& watcher_;
  const std::atomic<int>& stop_;
  std::vector<bool> finished_;
  size_t open_ = 0;  // runs that have not ended, when we last looked
  Time next_look_;
  Time next_count_;
  std::map<const Run*, Lease> held_;
  Workers workers_;  // ends before the leases do
};

}  // namespace

bool work_together(const Folder& folder, Leases& leases, const std::vector<Run>& runs,
                   const QueueOptions& options, Watcher& watcher, const std::atomic<int>& stop) {
  return Joiner(folder, leases, runs, options, watcher, stop).work();
}

void take_back_failed(const Folder& folder, Leases& leases, const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (folder.state(run.name) != State::kFailed) continue;
    const std::optional<Lease> lease = leases.claim(lease_of(run));
    if (lease && folder.state(run.name) == State::kFailed) folder.take_back(run.name);
  }
}

Results publish(const Spec& spec, const std::vector<Run>& runs, const Folder& folder, Leases& leases,
                const std::atomic<int>& stop) {
  const std::optional<Lease> lease = leases.wait_for(kTablesLease, stop);
  Results results = collect(spec, runs, folder);
  const bool all = std::all_of(results.runs.begin(), results.runs.end(),
                               [](const RunResult& result) { return has_ended(result.state); });
  if (lease && all) complete_tables(spec, runs, results, folder);
  return results;
}

}  // namespace hewn::sweep
