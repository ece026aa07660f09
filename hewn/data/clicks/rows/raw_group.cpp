#include "hewn/data/clicks/rows/raw_group.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace hewn::data {
namespace {

constexpr size_t kFirstSlots = 1024;

uint64_t to_words(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

uint64_t sum(const std::vector<uint32_t>& sizes, size_t fields) {
  return std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(fields), uint64_t{0});
}

size_t slot_of(uint64_t value, int shift) {
  return static_cast<size_t>((value * 0x9e3779b97f4a7c15ULL) >> shift);
}

void append(std::vector<char>& out, const void* data, size_t bytes) {
  if (bytes == 0) return;  // there may be no data
  const auto* begin = static_cast<const char*>(data);
  out.insert(out.end(), begin, begin + bytes);
}
void pad(std::vector<char>& out) { out.resize(to_words(out.size())); }

}  // namespace

uint64_t RawGroup::values_at(size_t field) const {
  return to_words(4 * (1 + sizes.size() + largest.size())) + 8 * sum(sizes, field);
}
uint64_t RawGroup::counts_at(size_t field) const { return values_at(sizes.size()) + 4 * sum(sizes, field); }
uint64_t RawGroup::numeric_at(size_t column) const {
  return to_words(counts_at(sizes.size())) + column * 2 * uint64_t{rows};
}
uint64_t RawGroup::codes_at(size_t field) const {
  return to_words(numeric_at(largest.size())) + field * 2 * uint64_t{rows};
}
uint64_t RawGroup::labels_at() const { return to_words(codes_at(sizes.size())); }
uint64_t RawGroup::bytes() const { return to_words(labels_at() + rows); }

size_t rows_per_group(const Schema& schema) {
  constexpr size_t kMostRows = 65536;
  constexpr size_t kMostValues = size_t{1} << 22;
  return std::clamp(kMostValues / std::max<size_t>(schema.columns.size(), 1), size_t{1024}, kMostRows);
}

void GroupEncoder::encode_column(const uint64_t* values, size_t rows) {
  slots_.assign(kFirstSlots, 0);
  dictionary_.clear();
  counts_.clear();
  codes_.resize(rows);
  int shift = 64 - std::countr_zero(slots_.size());
  for (size_t i = 0; i < rows; ++i) {
    const uint64_t value = values[i];
    size_t slot = slot_of(value, shift);
    while (slots_[slot] != 0 && dictionary_[slots_[slot] - 1] != value)
      slot = (slot + 1) & (slots_.size() - 1);
    if (slots_[slot] == 0) {
      dictionary_.push_back(value);
      counts_.push_back(0);
      slots_[slot] = static_cast<uint32_t>(dictionary_.size());
    }
    const uint32_t code = slots_[slot] - 1;
    ++counts_[code];
    codes_[i] = static_cast<uint16_t>(code);
    if (2 * dictionary_.size() <= slots_.size()) continue;
    slots_.assign(4 * slots_.size(), 0);
    shift -= 2;
    for (size_t d = 0; d < dictionary_.size(); ++d) {
      size_t free = slot_of(dictionary_[d], shift);
      while (slots_[free] != 0) free = (free + 1) & (slots_.size() - 1);
      slots_[free] = static_cast<uint32_t>(d + 1);
    }
  }
}

void GroupEncoder::encode(const RowBlock& block, std::vector<char>& out) {
  const size_t rows = block.rows;
  const size_t fields = block.categorical.size() / block.capacity;
  const size_t numeric_columns = block.numeric.size() / block.capacity;
  RawGroup group;
  group.rows = static_cast<uint32_t>(rows);
  std::vector<uint64_t> values;
  std::vector<uint32_t> counts;
  std::vector<uint16_t> codes;
  codes.reserve(fields * rows);
  for (size_t f = 0; f < fields; ++f) {
    encode_column(block.categorical.data() + f * block.capacity, rows);
    group.sizes.push_back(static_cast<uint32_t>(dictionary_.size()));
    values.insert(values.end(), dictionary_.begin(), dictionary_.end());
    counts.insert(counts.end(), counts_.begin(), counts_.end());
    codes.insert(codes.end(), codes_.begin(), codes_.end());
  }
  for (size_t c = 0; c < numeric_columns; ++c) {
    const uint16_t* column = block.numeric.data() + c * block.capacity;
    group.largest.push_back(*std::max_element(column, column + rows));
  }
  pad(out);
  append(out, &group.rows, sizeof(group.rows));
  append(out, group.sizes.data(), 4 * fields);
  append(out, group.largest.data(), 4 * numeric_columns);
  pad(out);
  append(out, values.data(), 8 * values.size());
  append(out, counts.data(), 4 * counts.size());
  pad(out);
  for (size_t c = 0; c < numeric_columns; ++c)
    append(out, block.numeric.data() + c * block.capacity, 2 * rows);
  pad(out);
  append(out, codes.data(), 2 * codes.size());
  pad(out);
  append(out, block.labels.data(), rows);
  pad(out);
}

}  // namespace hewn::data
