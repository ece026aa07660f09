#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hewn::data {

/// A batch that is being filled, sample by sample.
struct LoadedBatch {
  int64_t number = 0;
  uint64_t epoch = 0;
  std::vector<size_t> images;
  uint8_t* pixels = nullptr;          // of all samples, one behind the other
  std::shared_ptr<void> memory;       // that holds them
  std::vector<std::string> problems;  // by sample; "" where there is none
};

/// Fills batches on worker threads ahead of their use. What a batch holds does not depend on the workers, nor
/// on what was asked for before.
class BatchLoader {
 public:
  /// Says what belongs into batch `number`, with memory for it; runs on the caller's thread.
  using Choose = std::function<LoadedBatch(int64_t number)>;
  /// Fills one sample; runs on a worker. An Error becomes the sample's problem.
  using Fill = std::function<void(size_t worker, const LoadedBatch& batch, size_t sample)>;

  /// Batches have numbers below `end`; at most `ahead` of them exist.
  BatchLoader(size_t workers, size_t ahead, int64_t end, Choose choose, Fill fill);
  ~BatchLoader();
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  /// Waits for a batch. Those behind it are filled meanwhile; any order works, the natural one is fast.
  LoadedBatch get(int64_t number);

 private:
  struct Work {
    LoadedBatch batch;
    size_t taken = 0;  // samples given to workers
    size_t done = 0;
    std::exception_ptr failure;
  };
  void choose_ahead(int64_t number);
  void work(size_t worker);
  std::shared_ptr<Work> next_work() const;

  size_t ahead_;
  int64_t end_;
  Choose choose_;
  Fill fill_;
  std::mutex mutex_;
  std::condition_variable chosen_;
  std::condition_variable finished_;
  std::deque<std::shared_ptr<Work>> queue_;  // batches one behind the other
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hewn::data
