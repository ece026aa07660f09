#include "hewn/report/series.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace hewn::report {

Series thin(const Series& series, size_t points) {
  const size_t all = series.x.size();
  points = std::max<size_t>(points, 4);
  if (all <= points) return series;
  Series out;
  const auto take = [&](size_t i) { out.add(series.x[i], series.y[i]); };
  take(0);
  const size_t stretches = (points - 2) / 2;
  const size_t inner = all - 2;
  for (size_t s = 0; s < stretches; ++s) {
    const auto begin = series.y.begin() + static_cast<std::ptrdiff_t>(1 + inner * s / stretches);
    const auto end = series.y.begin() + static_cast<std::ptrdiff_t>(1 + inner * (s + 1) / stretches);
    const auto [low, high] = std::minmax_element(begin, end);
    const auto first = static_cast<size_t>(std::min(low, high) - series.y.begin());
    const auto second = static_cast<size_t>(std::max(low, high) - series.y.begin());
    take(first);
    if (second != first) take(second);
  }
  take(all - 1);
  return out;
}

Json rounded(double value, int digits) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<int64_t>(value);
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

Json to_json(const Series& series) {
  Json x = Json::array();
  Json y = Json::array();
  for (size_t i = 0; i < series.x.size(); ++i) {
    x.push_back(rounded(series.x[i], 9));
    y.push_back(rounded(series.y[i]));
  }
  return {{"x", x}, {"y", y}};
}

}  // namespace hewn::report
