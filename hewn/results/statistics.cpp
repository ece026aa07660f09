#include "hewn/results/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hewn::results {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> deviation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double sign_test(int64_t wins, int64_t losses) {
  const int64_t n = wins + losses;
  const int64_t few = std::min(wins, losses);
  // Logarithms, since 2^-n leaves the range of numbers long before tables get that large.
  const auto log_choose = [n](int64_t k) {
    return std::lgamma(static_cast<double>(n + 1)) - std::lgamma(static_cast<double>(k + 1)) -
           std::lgamma(static_cast<double>(n - k + 1));
  };
  double tail = 0;
  for (int64_t k = 0; k <= few; ++k) {
    tail += std::exp(log_choose(k) - static_cast<double>(n) * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

}  // namespace hewn::results
