#pragma once

#include <vector>

#include "hewn/data/synthetic/click_rows.h"

namespace hewn::data {

/// The alias table of a field whose values have these weights: a value in constant time from one random word.
std::vector<AliasEntry> alias_table(const std::vector<double>& weights);

}  // namespace hewn::data
