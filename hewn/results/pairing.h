#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hewn::results {

/// Two methods, a and b, over pairs of runs that differ in nothing else: same cell, same seed.
struct Pairing {
  int64_t wins = 0;  // of a
  int64_t losses = 0;
  int64_t ties = 0;
  double difference = 0;  // mean of a minus b
  double p = 1;           // two-sided sign test, ties left out

  int64_t pairs() const { return wins + losses + ties; }
  /// As seen from b.
  Pairing reversed() const { return {losses, wins, ties, -difference, p}; }
};

/// From the values of a and b in each pair.
Pairing pair_up(const std::string& metric, const std::vector<std::pair<double, double>>& pairs);

}  // namespace hewn::results
