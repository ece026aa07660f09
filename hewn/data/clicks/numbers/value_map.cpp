#include "hewn/data/clicks/numbers/value_map.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace hewn::data {

ValueMap::ValueMap(size_t entries) { resize(std::bit_ceil(std::max<size_t>(2 * entries, 256))); }

void ValueMap::resize(size_t capacity) {
  std::vector<uint64_t> keys(capacity, kFree);
  std::vector<uint32_t> numbers(capacity, 0);
  keys.swap(keys_);
  numbers.swap(numbers_);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == kFree) continue;
    const size_t position = position_of(keys[i]);
    keys_[position] = keys[i];
    numbers_[position] = numbers[i];
  }
}

void ValueMap::clear() {
  std::fill(keys_.begin(), keys_.end(), kFree);
  std::fill(numbers_.begin(), numbers_.end(), 0);
  size_ = 0;
}

void ValueMap::add(const uint64_t* values, const uint32_t* amounts, size_t count) {
  while (count > 0) {
    const size_t batch = std::min(count, kBatch);
    if (4 * (size_ + batch) > 3 * keys_.size()) resize(2 * keys_.size());
    for (size_t i = 0; i < batch; ++i) {
      const size_t position = mix(values[i]) & (keys_.size() - 1);
      __builtin_prefetch(&keys_[position]);
      __builtin_prefetch(&numbers_[position]);
    }
    for (size_t i = 0; i < batch; ++i) {
      const size_t position = position_of(values[i]);
      if (keys_[position] == kFree) {
        keys_[position] = values[i];
        ++size_;
      }
      const uint64_t sum = uint64_t{numbers_[position]} + amounts[i];
      numbers_[position] =
          static_cast<uint32_t>(std::min<uint64_t>(sum, std::numeric_limits<uint32_t>::max()));
    }
    values += batch;
    amounts += batch;
    count -= batch;
  }
}

void ValueMap::find(const uint64_t* values, size_t count, uint32_t otherwise, uint32_t* out) const {
  while (count > 0) {
    const size_t batch = std::min(count, kBatch);
    for (size_t i = 0; i < batch; ++i) __builtin_prefetch(&keys_[mix(values[i]) & (keys_.size() - 1)]);
    for (size_t i = 0; i < batch; ++i) {
      const size_t position = position_of(values[i]);
      out[i] = keys_[position] == kFree ? otherwise : numbers_[position];
    }
    values += batch;
    out += batch;
    count -= batch;
  }
}

}  // namespace hewn::data
