#include "hewn/results/sample.h"

#include "hewn/results/statistics.h"

namespace hewn::results {

std::vector<double> Sample::values() const {
  std::vector<double> out;
  for (const auto& [seed, value] : by_seed_) out.push_back(value);
  return out;
}

double Sample::mean() const { return results::mean(values()); }

std::optional<double> Sample::deviation() const { return results::deviation(values()); }

double Sample::squared_error() const {
  const double sd = deviation().value_or(0);
  return sd * sd / static_cast<double>(size());
}

}  // namespace hewn::results
