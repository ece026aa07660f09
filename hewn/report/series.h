#pragma once

#include <cstddef>
#include <vector>

#include "hewn/core/json.h"

namespace hewn::report {

/// A curve: y over growing x.
struct Series {
  std::vector<double> x;
  std::vector<double> y;

  void add(double at, double value) {
    x.push_back(at);
    y.push_back(value);
  }
};

/// At most `points` of the curve (at least 4): of each stretch its lowest and its highest, and both ends, so
/// that no spike is lost.
Series thin(const Series& series, size_t points);

/// {"x": [...], "y": [...]}, with as many digits as a chart can show; null for what is not finite.
Json to_json(const Series& series);
/// The value with `digits` significant digits.
Json rounded(double value, int digits = 5);

}  // namespace hewn::report
