#include "hewn/data/synthetic/alias.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "hewn/core/random.h"

namespace hewn::data {
namespace {

TEST(Alias, EntriesAddUpToTheWeights) {
  std::vector<double> zipf, random;
  for (uint64_t i = 0; i < 5000; ++i) {
    zipf.push_back(std::pow(i + 1, -1.1));
    random.push_back(unit(draw(5, Stream::kPattern, 0, i)[0]));
  }
  for (const std::vector<double>& weights :
       {std::vector<double>{3}, {1, 1, 1}, {1, 0, 2}, {0.1, 0.9}, zipf, random}) {
    const auto aliases = alias_table(weights);
    ASSERT_EQ(aliases.size(), weights.size());
    std::vector<double> mass(weights.size());
    for (size_t i = 0; i < aliases.size(); ++i) {
      mass[i] += unit(aliases[i].threshold);
      mass.at(static_cast<size_t>(aliases[i].other)) += 1 - unit(aliases[i].threshold);
    }
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const auto n = static_cast<double>(weights.size());
    // Thresholds are whole multiples of 2^-32: each entry may pass that much on.
    for (size_t i = 0; i < mass.size(); ++i) EXPECT_NEAR(mass[i] / n, weights[i] / total, 1e-9);
  }
}

}  // namespace
}  // namespace hewn::data
