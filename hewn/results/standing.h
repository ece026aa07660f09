#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/results/sample.h"

namespace hewn::results {

/// What a lead is worth.
enum class Verdict : uint8_t {
  kAlone,        // there is nobody to beat
  kTie,          // several have the best mean, so nobody wins
  kOneSeed,      // the best or the second has no spread to measure the lead by
  kWithinNoise,  // two standard errors of the difference, or less
  kClear
};
std::string_view name_of(Verdict verdict);

/// How those who compete in one cell stand. Numbers are those of the samples.
struct Standing {
  std::vector<size_t> best;      // more than one in a tie
  std::optional<size_t> second;  // whom the best leads
  double margin = 0;             // by how much its mean is better
  Verdict verdict = Verdict::kAlone;

  bool is_best(size_t number) const;
  /// The one that wins: has the best mean and shares it with nobody.
  std::optional<size_t> winner() const;
};

/// The rule of winning, for all tables: the best mean over seeds. Samples have a value or more; there is at
/// least one. Means that differ by rounding alone tie, whatever the order in which seeds were added up.
Standing judge(const std::string& metric, const std::vector<Sample>& samples);

}  // namespace hewn::results
