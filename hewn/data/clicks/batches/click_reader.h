#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <vector>

#include "hewn/data/clicks/batches/order.h"
#include "hewn/data/clicks/cache/cache_file.h"

namespace hewn::data {

/// Runs task(0) to task(count - 1), maybe at the same time.
using Parallel = std::function<void(size_t count, const std::function<void(size_t)>& task)>;

/// Copies rows of a cache into batches: numbers of all fields row by row, and labels as floats.
class ClickReader {
 public:
  ClickReader(const std::filesystem::path& cache, uint64_t seed, Parallel parallel);

  const CacheFile& cache() const { return cache_; }
  uint64_t rows(RowPart part) const;

  /// Rows [begin, begin + count) of an epoch of training.
  void train_rows(uint64_t epoch, uint64_t begin, uint64_t count, int32_t* numbers, float* labels);
  /// Rows [begin, begin + count) of a part, in the order of the files.
  void part_rows(RowPart part, uint64_t begin, uint64_t count, int32_t* numbers, float* labels) const;

 private:
  /// A window in its shuffled order, ready to be cut into batches.
  struct Shuffled {
    uint64_t epoch = 0;
    size_t window = 0;
    std::vector<int32_t> numbers;
    std::vector<float> labels;
  };
  const Shuffled& shuffled(uint64_t epoch, size_t window);
  void fill(Shuffled& out) const;
  /// rows[i] of a group goes to positions[i].
  void copy(const GroupView& group, const std::vector<uint32_t>& rows, const uint32_t* positions,
            int32_t* numbers, float* labels) const;

  CacheFile cache_;
  uint64_t seed_;
  Parallel parallel_;
  uint64_t epoch_ = ~uint64_t{0};
  std::vector<Window> windows_;
  std::deque<Shuffled> ready_;  // a batch may reach from one window into the next
};

}  // namespace hewn::data
