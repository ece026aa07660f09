#include "hewn/data/clicks/rows/raw_group.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace hewn::data {
namespace {

constexpr size_t kFirstTable = 1024;

uint64_t to_words(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

uint64_t sum(const std::vector<uint32_t>& sizes, size_t fields) {
  return std::accumulate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(fields), uint64_t{0});
}

size_t position_for(uint64_t value, int shift) {
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
  table_.assign(kFirstTable, 0);
  dictionary_.clear();
  counts_.clear();
  codes_.resize(rows);
  int shift = 64 - std::countr_zero(table_.size());
  for (size_t i = 0; i < rows; ++i) {
    const uint64_t value = values[i];
    size_t position = position_for(value, shift);
    while (table_[position] != 0 && dictionary_[table_[position] - 1] != value)
      position = (position + 1) & (table_.size() - 1);
    if (table_[position] == 0) {
      dictionary_.push_back(value);
      counts_.push_back(0);
      table_[position] = static_cast<uint32_t>(dictionary_.size());
    }
    const uint32_t code = table_[position] - 1;
    ++counts_[code];
    codes_[i] = static_cast<uint16_t>(code);
    if (2 * dictionary_.size() <= table_.size()) continue;
    table_.assign(4 * table_.size(), 0);
    shift -= 2;
    for (size_t d = 0; d < dictionary_.size(); ++d) {
      size_t free = position_for(dictionary_[d], shift);
      while (table_[free] != 0) free = (free + 1) & (table_.size() - 1);
      table_[free] = static_cast<uint32_t>(d + 1);
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
