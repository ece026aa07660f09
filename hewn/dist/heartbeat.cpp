#include "hewn/dist/heartbeat.h"

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "hewn/core/error.h"

namespace hewn::dist {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBeat{500};
constexpr milliseconds kSilence{3000};  // a rank that does not beat this long is lost
constexpr milliseconds kLinger{15000};  // rank 0 waits at most this long for others to hear who is lost

const char* const kLosses = "hewn/losses";
std::string alive_key(int64_t rank) { return str("hewn/alive/", rank); }
std::string asked_key(int64_t rank) { return str("hewn/asked/", rank); }
std::string lost_key(int64_t rank) { return str("hewn/lost/", rank); }
std::string heard_key(int64_t rank) { return str("hewn/heard/", rank); }

}  // namespace

/// A store connection of its own with the thread that beats: the one that training uses may be waiting. Where
/// the store does not answer, as when rank 0's machine stands still, a call to it may never end: such calls
/// are made by threads that keep this alive and are left behind.
class Heartbeat::Pulse : public std::enable_shared_from_this<Pulse> {
 public:
  explicit Pulse(const Place& place) : place_(place) {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(place.port);
    options.waitWorkers = false;
    store_ = c10::make_intrusive<c10d::TCPStore>(place.address, options);
  }

  void start() {
    std::thread([self = shared_from_this()] { self->beat(); }).detach();
  }

  /// Waits for the beating thread, but not for a store that does not answer.
  void stop() {
    std::unique_lock lock(mutex_);
    stop_ = true;
    wake_.notify_all();
    wake_.wait_for(lock, kSilence, [this] { return ended_; });
  }

  std::vector<int64_t> find_lost() {
    auto answer = std::make_shared<std::promise<std::vector<int64_t>>>();
    std::future<std::vector<int64_t>> found = answer->get_future();
    std::thread([self = shared_from_this(), answer] { answer->set_value(self->ask()); }).detach();
    const milliseconds patience = 3 * kSilence + (place_.first() ? kLinger : milliseconds(0));
    if (found.wait_for(patience) == std::future_status::ready) return found.get();
    return heard_or_first();
  }

 private:
  std::vector<int64_t> ask() {
    try {
      store_->add(asked_key(place_.rank), 1);
      std::vector<int64_t> lost = heard();
      if (lost.empty()) {
        lost = find_silent();
        tell(lost);
      }
      store_->add(heard_key(place_.rank), 1);
      if (place_.first()) wait_for_others(lost);
      return lost;
    } catch (const std::exception&) {
      return heard_or_first();
    }
  }

  /// The store is gone, and with it the rank that served it; it may have said who was lost before.
  std::vector<int64_t> heard_or_first() {
    const std::vector<int64_t> lost = heard();
    return lost.empty() ? std::vector<int64_t>{0} : lost;
  }

  /// Beats, and listens for what others have found: they may be gone when this rank asks.
  void beat() {
    try {
      for (bool heard_already = false; !stopped();) {
        store_->add(alive_key(place_.rank), 1);
        if (!heard_already && flag(kLosses)) {
          heard_already = true;
          const std::vector<int64_t> lost = ranks_with(lost_key);
          const std::lock_guard lock(mutex_);
          lost_ = lost;
        }
        if (heard_already) store_->add(heard_key(place_.rank), 1);
      }
    } catch (const std::exception&) {
      // The store is gone; find_lost says so when it is asked.
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    wake_.notify_all();
  }

  /// After the time between two beats, or at once when it is time to end.
  bool stopped() {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, kBeat, [this] { return stop_; });
  }

  std::vector<int64_t> heard() {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

  /// Ranks that neither beat nor ask.
  std::vector<int64_t> find_silent() {
    const std::vector<int64_t> before = counts();
    std::this_thread::sleep_for(kSilence);
    const std::vector<int64_t> after = counts();
    std::vector<int64_t> silent;
    for (int64_t rank = 0; rank < place_.size; ++rank) {
      const auto i = static_cast<size_t>(rank);
      if (rank != place_.rank && after[i] == before[i] && !flag(asked_key(rank))) silent.push_back(rank);
    }
    return silent;
  }

  void tell(const std::vector<int64_t>& lost) {
    if (lost.empty()) return;
    for (const int64_t rank : lost) store_->add(lost_key(rank), 1);
    store_->add(kLosses, 1);
  }

  /// The store goes with rank 0: it stays until every rank that is left knows.
  void wait_for_others(const std::vector<int64_t>& lost) {
    const auto knows = [&](int64_t rank) {
      return rank == place_.rank || flag(heard_key(rank)) ||
             std::find(lost.begin(), lost.end(), rank) != lost.end();
    };
    const auto end = std::chrono::steady_clock::now() + kLinger;
    for (int64_t rank = 0; rank < place_.size && std::chrono::steady_clock::now() < end;) {
      if (knows(rank)) {
        ++rank;
      } else {
        std::this_thread::sleep_for(kBeat / 5);
      }
    }
  }

  std::vector<int64_t> counts() {
    std::vector<int64_t> out;
    for (int64_t rank = 0; rank < place_.size; ++rank) out.push_back(store_->add(alive_key(rank), 0));
    return out;
  }

  bool flag(const std::string& key) { return store_->add(key, 0) > 0; }

  std::vector<int64_t> ranks_with(std::string (*key)(int64_t)) {
    std::vector<int64_t> out;
    for (int64_t rank = 0; rank < place_.size; ++rank) {
      if (flag(key(rank))) out.push_back(rank);
    }
    return out;
  }

  Place place_;
  c10::intrusive_ptr<c10d::TCPStore> store_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  bool ended_ = false;
  std::vector<int64_t> lost_;  // as others found
};

Heartbeat::Heartbeat(const Place& place) : pulse_(std::make_shared<Pulse>(place)) { pulse_->start(); }
Heartbeat::~Heartbeat() { pulse_->stop(); }

std::vector<int64_t> Heartbeat::find_lost() { return pulse_->find_lost(); }

}  // namespace hewn::dist
