#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace hewn::results {

/// Values of one metric in runs that differ by their seeds alone. A seed counts once, however often its run
/// is met.
class Sample {
 public:
  void add(int64_t seed, double value) { by_seed_.emplace(seed, value); }

  bool empty() const { return by_seed_.empty(); }
  size_t size() const { return by_seed_.size(); }
  std::vector<double> values() const;  // seed by seed

  double mean() const;                      // of at least one
  std::optional<double> deviation() const;  // n - 1; none for fewer than two
  /// The square of the mean's standard error; 0 for fewer than two.
  double squared_error() const;

 private:
  std::map<int64_t, double> by_seed_;
};

}  // namespace hewn::results
