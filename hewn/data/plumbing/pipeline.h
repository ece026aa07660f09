#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace hewn::data {

/// How often a caller that waits is asked to report progress.
constexpr std::chrono::milliseconds kTick{100};

/// Items in a row through three stages: `produce` fills them on one thread until it answers false,
/// `transform` works on several, `consume` gets them in their first order on the calling thread. At most
/// `threads` + 2 items exist, and they are used again. The first exception stops all stages and is thrown to
/// the caller.
template <class Item>
class Pipeline {
 public:
  using Produce = std::function<bool(Item&)>;
  using Transform = std::function<void(size_t thread, Item&)>;
  using Consume = std::function<void(Item&)>;
  using Tick = std::function<void()>;

  explicit Pipeline(size_t threads) : threads_(threads), ring_(threads + 2) {}

  void run(const Produce& produce, const Transform& transform, const Consume& consume, const Tick& tick) {
    std::vector<std::thread> threads;
    threads.emplace_back([&] { guarded([&] { produce_all(produce); }); });
    for (size_t t = 0; t < threads_; ++t) {
      threads.emplace_back([&, t] { guarded([&] { transform_all(transform, t); }); });
    }
    guarded([&] { consume_all(consume, tick); });
    for (std::thread& thread : threads) thread.join();
    if (problem_) std::rethrow_exception(problem_);
  }

 private:
  struct Entry {
    Item item;
    bool done = false;  // transformed
  };
  Entry& entry(uint64_t number) { return ring_[number % ring_.size()]; }

  void guarded(const std::function<void()>& stage) {
    try {
      stage();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!problem_) problem_ = std::current_exception();
      stopped_ = true;
      changed_.notify_all();
    }
  }

  void produce_all(const Produce& produce) {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || produced_ - consumed_ < ring_.size(); });
      if (stopped_) return;
      Entry& next = entry(produced_);
      lock.unlock();
      const bool more = produce(next.item);
      lock.lock();
      if (more) ++produced_;
      if (!more) ended_ = true;
      changed_.notify_all();
      if (!more) return;
    }
  }

  void transform_all(const Transform& transform, size_t thread) {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped_ || taken_ < produced_ || ended_; });
      if (stopped_ || taken_ == produced_) return;
      Entry& mine = entry(taken_++);
      lock.unlock();
      transform(thread, mine.item);
      lock.lock();
      mine.done = true;
      changed_.notify_all();
    }
  }

  void consume_all(const Consume& consume, const Tick& tick) {
    for (;;) {
      std::unique_lock lock(mutex_);
      const auto ready = [&] {
        return stopped_ || (consumed_ < produced_ && entry(consumed_).done) ||
               (ended_ && consumed_ == produced_);
      };
      while (!changed_.wait_for(lock, kTick, ready)) {
        lock.unlock();
        tick();
        lock.lock();
      }
      if (stopped_ || consumed_ == produced_) return;
      Entry& next = entry(consumed_);
      lock.unlock();
      consume(next.item);
      tick();
      lock.lock();
      next.done = false;
      ++consumed_;
      changed_.notify_all();
    }
  }

  size_t threads_;
  std::vector<Entry> ring_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t produced_ = 0;
  uint64_t taken_ = 0;
  uint64_t consumed_ = 0;
  bool ended_ = false;
  bool stopped_ = false;
  std::exception_ptr problem_;
};

/// Runs task(0) to task(count - 1) on so many threads; the caller's thread only calls `tick`.
inline void for_all(size_t threads, size_t count, const std::function<void(size_t)>& task,
                    const std::function<void()>& tick) {
  size_t next = 0;
  Pipeline<size_t> pipeline(threads);
  pipeline.run(
      [&](size_t& item) {
        item = next++;
        return item < count;
      },
      [&](size_t, size_t& item) { task(item); }, [](size_t&) {}, tick);
}

/// Processors that this process may use.
size_t processors();

}  // namespace hewn::data
