#pragma once

#include <cstdint>

/// Rows of a synthetic click log. A row is a pure function of the log's truth, its stream and its number, so
/// that any thread, batch size or device makes the same one.
///
/// logit = bias + sum over fields of linear[value] + sum over pairs of fields of <factor[value],
/// factor[value']>
namespace hewn::data {

constexpr int kClickFields = 39;
constexpr int kClickRank = 4;

/// One entry of an alias table (Walker 1977): its own value below the threshold, else the other one.
struct AliasEntry {
  uint32_t threshold = 0;
  int32_t other = 0;
};

/// What a value adds to the logit. `own` is linear - |factor|^2 / 2: with it the pairs are |sum factor|^2
/// / 2.
struct ValueEffect {
  float own = 0;
  float factor[kClickRank] = {};
};

/// The truth behind the rows. Plain data, so that it travels to a GPU by value; there, the pointers are its.
struct ClickTruth {
  int32_t first[kClickFields + 1] = {};  // the values of field f are those from first[f] to first[f + 1]
  const AliasEntry* aliases = nullptr;   // by value, numbered within the field
  const ValueEffect* effects = nullptr;
  float bias = 0;
};

/// Which rows: a Philox key and the high half of its counter (core/random.h, counter_of).
struct ClickStream {
  uint64_t key = 0;
  uint64_t counter_high = 0;
};

/// Writes the rows [first, first + count): input [count][39], target and logit [count]; logit may be null.
void click_rows(const ClickTruth& truth, const ClickStream& stream, int64_t first, int64_t count,
                int32_t* input, float* target, float* logit);

}  // namespace hewn::data
