#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hewn::bench {

enum class Clock { kThreadCpu, kWall };

struct Contender {
  std::string name;
  std::function<void()> run;
};

struct Timing {
  std::string name;
  double median_ms = 0;
  double ratio = 1;      // median of the per-round ratios to the first contender
  double ratio_low = 1;  // quartiles of them
  double ratio_high = 1;
};

/// Runs the contenders in turn, round by round, so that a machine that slows down slows them all; the first
/// round warms up and does not count.
std::vector<Timing> interleave(const std::vector<Contender>& contenders, int rounds, Clock clock);

}  // namespace hewn::bench
