#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace hewn::data {

/// Numbers of a categorical field: 0 missing, 1 values seen too rarely, then the others, the most frequent
/// first; equally frequent ones in the order of their values.
constexpr uint32_t kMissingNumber = 0;
constexpr uint32_t kRareNumber = 1;
constexpr uint32_t kFirstNumber = 2;

/// At most so many values of a field have their own numbers, the most frequent ones.
constexpr size_t kLargestVocabulary = size_t{1} << 23;

struct CountedValue {
  uint64_t value;
  uint32_t count;
};

struct Vocabulary {
  std::vector<CountedValue> values;  // value i has the number kFirstNumber + i
  uint64_t distinct = 0;             // values, rare ones included
  uint64_t missing = 0;              // rows
  uint64_t rare = 0;                 // rows
};

/// Calls its argument with pieces of a field's values and how often each piece holds them. It is asked again
/// for the same pieces where not all values fit into memory.
using VisitPiece = std::function<void(const uint64_t* values, const uint32_t* counts, size_t size)>;
using VisitPieces = std::function<void(const VisitPiece&)>;

/// Exact counts with a bounded amount of memory: where more than `most` values occur, only those with certain
/// hashes are counted at a time, and the pieces are visited again for the others.
Vocabulary count_values(const VisitPieces& pieces, uint64_t min_count, size_t most);

/// The number of a value that is hashed instead of counted: 1 to `size`.
uint32_t hashed_number(uint64_t value, size_t field, uint64_t size);

}  // namespace hewn::data
