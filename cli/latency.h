#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hewn/core/json.h"

namespace hewn::cli {

/// How long each of many calls took, in milliseconds, sorted.
class Latency {
 public:
  /// Calls `body` so often, after some that do not count. By this thread's CPU time, or by the clock.
  static Latency measure(int64_t calls, bool by_clock, const std::function<void()>& body);
  explicit Latency(std::vector<double> milliseconds);

  /// The time that this share of the calls stayed within.
  double at(double share) const;
  Json to_json() const;
  /// p50, p95, p99 and the longest, then a line for every stretch of times: how many calls took so long.
  std::string text() const;

 private:
  struct Bin {
    double from;
    double to;
    int64_t calls;
  };
  std::vector<Bin> histogram() const;

  std::vector<double> sorted_;
};

}  // namespace hewn::cli
