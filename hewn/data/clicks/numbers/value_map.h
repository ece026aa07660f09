#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hewn/data/plumbing/hash.h"

namespace hewn::data {

/// From 64-bit values to 32-bit numbers, with open addressing. kMissing is no key.
class ValueMap {
 public:
  explicit ValueMap(size_t entries = 0);

  /// Adds to the values' numbers, at most up to the largest; new values start at 0.
  void add(const uint64_t* values, const uint32_t* amounts, size_t count);
  void insert(uint64_t value, uint32_t number) { add(&value, &number, 1); }
  /// The values' numbers, `otherwise` for those that are not there.
  void find(const uint64_t* values, size_t count, uint32_t otherwise, uint32_t* out) const;

  size_t size() const { return size_; }
  /// Calls visit(value, number) in no particular order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] != kFree) visit(keys_[i], numbers_[i]);
    }
  }
  /// Drops all entries but those of which keep(value) is true; gives no memory back.
  template <class Keep>
  void retain(const Keep& keep) {
    std::vector<std::pair<uint64_t, uint32_t>> kept;
    for_each([&](uint64_t value, uint32_t number) {
      if (keep(value)) kept.emplace_back(value, number);
    });
    clear();
    for (const auto& [value, number] : kept) insert(value, number);
  }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};
  static constexpr size_t kBatch = 32;  // so many cache misses are under way at the same time

  size_t position_of(uint64_t value) const {
    size_t position = mix(value) & (keys_.size() - 1);
    while (keys_[position] != value && keys_[position] != kFree)
      position = (position + 1) & (keys_.size() - 1);
    return position;
  }
  void resize(size_t capacity);
  void clear();

  std::vector<uint64_t> keys_;
  std::vector<uint32_t> numbers_;
  size_t size_ = 0;
};

}  // namespace hewn::data
