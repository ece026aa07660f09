#include "hewn/data/clicks/numbers/vocabulary.h"

#include <algorithm>

#include "hewn/data/clicks/numbers/value_map.h"
#include "hewn/data/clicks/rows/row_parser.h"
#include "hewn/data/plumbing/hash.h"

namespace hewn::data {
namespace {

/// The values whose hash begins with certain bits.
struct HashShare {
  int bits = 0;
  uint64_t prefix = 0;
  bool holds(uint64_t value) const { return bits == 0 || mix(value) >> (64 - bits) == prefix; }
};

bool before(const CountedValue& a, const CountedValue& b) {
  return a.count != b.count ? a.count > b.count : a.value < b.value;
}

class Counter {
 public:
  Counter(uint64_t min_count, size_t most) : min_count_(min_count), most_(most) {}

  Vocabulary run(const VisitPieces& pieces) {
    for (std::vector<HashShare> waiting = {HashShare{}}; !waiting.empty();) {
      Round round{.share = waiting.back(), .first = waiting.back().bits == 0};
      waiting.pop_back();
      pieces([&](const uint64_t* values, const uint32_t* counts, size_t size) {
        choose(round, values, counts, size);
        round.map.add(chosen_.data(), amounts_.data(), chosen_.size());
        while (round.map.size() > most_) waiting.push_back(give_half(round));
      });
      harvest(round.map);
    }
    std::sort(out_.values.begin(), out_.values.end(), before);
    return std::move(out_);
  }

 private:
  /// One pass over the pieces, for the values of a share. It becomes smaller where they are too many.
  struct Round {
    HashShare share;
    bool first = false;  // pass: missing values count once
    ValueMap map = ValueMap();
  };

  /// Leaves in chosen_ and amounts_ what a piece holds of the round's share.
  void choose(const Round& round, const uint64_t* values, const uint32_t* counts, size_t size) {
    chosen_.clear();
    amounts_.clear();
    for (size_t i = 0; i < size; ++i) {
      if (values[i] == kMissing) {
        out_.missing += round.first ? counts[i] : 0;
      } else if (round.share.holds(values[i])) {
        chosen_.push_back(values[i]);
        amounts_.push_back(counts[i]);
      }
    }
  }

  /// Halves the round's share; the other half is left to a later one.
  static HashShare give_half(Round& round) {
    const HashShare other = {round.share.bits + 1, 2 * round.share.prefix + 1};
    round.share = {round.share.bits + 1, 2 * round.share.prefix};
    round.map.retain([&](uint64_t value) { return round.share.holds(value); });
    return other;
  }

  void harvest(const ValueMap& map) {
    out_.distinct += map.size();
    map.for_each([&](uint64_t value, uint32_t count) {
      if (count >= min_count_) {
        out_.values.push_back({value, count});
      } else {
        out_.rare += count;
      }
    });
    if (out_.values.size() <= kLargestVocabulary) return;
    const auto end = out_.values.begin() + static_cast<std::ptrdiff_t>(kLargestVocabulary);
    std::nth_element(out_.values.begin(), end, out_.values.end(), before);
    for (auto rest = end; rest != out_.values.end(); ++rest) out_.rare += rest->count;
    out_.values.erase(end, out_.values.end());
  }

  uint64_t min_count_;
  size_t most_;
  Vocabulary out_;
  std::vector<uint64_t> chosen_;
  std::vector<uint32_t> amounts_;
};

}  // namespace

Vocabulary count_values(const VisitPieces& pieces, uint64_t min_count, size_t most) {
  return Counter(min_count, most).run(pieces);
}

uint32_t hashed_number(uint64_t value, size_t field, uint64_t size) {
  return static_cast<uint32_t>(1 + mix(value ^ mix(field + 1)) % size);
}

}  // namespace hewn::data
