#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hewn::results {

/// Mean of at least one value.
double mean(const std::vector<double>& values);

/// Sample standard deviation (n - 1); none for fewer than two values.
std::optional<double> deviation(const std::vector<double>& values);

/// The two-sided sign test: how likely it is that a fair coin is at least as uneven as this. Exact; ties are
/// left out by the caller. 1 where there is nothing to judge.
double sign_test(int64_t wins, int64_t losses);

}  // namespace hewn::results
