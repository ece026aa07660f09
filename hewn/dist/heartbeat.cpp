#include "hewn/dist/heartbeat.h"

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "hewn/core/error.h"

namespace hewn::dist {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBeat{500};
constexpr milliseconds kSilence{3000};  // a rank that does not beat this long is lost
constexpr milliseconds kLinger{8000};   // rank 0 waits this long for others to ask

std::string alive_key(int64_t rank) { return str("hewn/alive/", rank); }
std::string asked_key(int64_t rank) { return str("hewn/asked/", rank); }

}  // namespace

/// A store connection of its own with the thread that beats: the one that training uses may be waiting.
class Heartbeat::Pulse {
 public:
  explicit Pulse(const Place& place) : place_(place) {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(place.port);
    options.waitWorkers = false;
    store_ = c10::make_intrusive<c10d::TCPStore>(place.address, options);
    thread_ = std::thread([this] { beat(); });
  }

  ~Pulse() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

  std::vector<int64_t> find_lost() {
    try {
      store_->add(asked_key(place_.rank), 1);
      const std::vector<int64_t> before = counts();
      std::this_thread::sleep_for(kSilence);
      const std::vector<int64_t> after = counts();
      std::vector<int64_t> lost;
      for (int64_t rank = 0; rank < place_.size; ++rank) {
        const auto i = static_cast<size_t>(rank);
        if (rank != place_.rank && after[i] == before[i] && !asked(rank)) lost.push_back(rank);
      }
      if (place_.first()) wait_for_others(lost);
      return lost;
    } catch (const std::exception&) {
      return {0};  // the store is gone, and with it the rank that served it
    }
  }

 private:
  void beat() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      try {
        store_->add(alive_key(place_.rank), 1);
      } catch (const std::exception&) {
        return;  // the store is gone; find_lost says so when it is asked
      }
      wake_.wait_for(lock, kBeat, [this] { return stop_; });
    }
  }

  std::vector<int64_t> counts() {
    std::vector<int64_t> out;
    for (int64_t rank = 0; rank < place_.size; ++rank) out.push_back(store_->add(alive_key(rank), 0));
    return out;
  }

  bool asked(int64_t rank) { return store_->add(asked_key(rank), 0) > 0; }

  /// Until every rank that is not lost has asked and had time for its answer.
  void wait_for_others(const std::vector<int64_t>& lost) {
    const auto end = std::chrono::steady_clock::now() + kLinger;
    const auto all_asked = [&] {
      for (int64_t rank = 0; rank < place_.size; ++rank) {
        if (std::find(lost.begin(), lost.end(), rank) == lost.end() && !asked(rank)) return false;
      }
      return true;
    };
    while (!all_asked() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kBeat);
    std::this_thread::sleep_for(kSilence + 2 * kBeat);
  }

  Place place_;
  c10::intrusive_ptr<c10d::TCPStore> store_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

Heartbeat::Heartbeat(const Place& place) : pulse_(std::make_unique<Pulse>(place)) {}
Heartbeat::~Heartbeat() = default;

std::vector<int64_t> Heartbeat::find_lost() { return pulse_->find_lost(); }

}  // namespace hewn::dist
