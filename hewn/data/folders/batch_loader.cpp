#include "hewn/data/folders/batch_loader.h"

#include <utility>

#include "hewn/core/error.h"

namespace hewn::data {

BatchLoader::BatchLoader(size_t workers, size_t ahead, int64_t end, Choose choose, Fill fill)
    : ahead_(ahead), end_(end), choose_(std::move(choose)), fill_(std::move(fill)) {
  for (size_t i = 0; i < workers; ++i) threads_.emplace_back([this, i] { work(i); });
}

BatchLoader::~BatchLoader() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  chosen_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

LoadedBatch BatchLoader::get(int64_t number) {
  choose_ahead(number);
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Work> front = queue_.front();
  finished_.wait(lock, [&] { return front->done == front->batch.images.size(); });
  queue_.pop_front();
  lock.unlock();
  if (front->failure) std::rethrow_exception(front->failure);
  return std::move(front->batch);
}

/// Makes `number` the first batch of the queue and fills the queue up behind it. Workers may still be busy
/// with batches that are dropped here; they hold on to them.
void BatchLoader::choose_ahead(int64_t number) {
  int64_t next = number;
  size_t there = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!queue_.empty() && queue_.front()->batch.number != number) queue_.clear();
    there = queue_.size();
    next += static_cast<int64_t>(there);
  }
  for (; there < ahead_ && next < end_; ++there, ++next) {
    auto work = std::make_shared<Work>();
    work->batch = choose_(next);
    work->batch.number = next;
    work->batch.problems.resize(work->batch.images.size());
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    chosen_.notify_all();
  }
}

std::shared_ptr<BatchLoader::Work> BatchLoader::next_work() const {
  for (const std::shared_ptr<Work>& work : queue_) {
    if (work->taken < work->batch.images.size()) return work;
  }
  return nullptr;
}

void BatchLoader::work(size_t worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::shared_ptr<Work> mine;
    chosen_.wait(lock, [&] { return stopped_ || (mine = next_work()) != nullptr; });
    if (stopped_) return;
    const size_t sample = mine->taken++;
    lock.unlock();
    std::string problem;
    std::exception_ptr failure;
    try {
      fill_(worker, mine->batch, sample);
    } catch (const Error& error) {
      problem = error.what();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    mine->batch.problems[sample] = std::move(problem);
    if (failure) mine->failure = failure;
    if (++mine->done == mine->batch.images.size()) finished_.notify_all();
  }
}

}  // namespace hewn::data
