#pragma once

#include <vector>

#include "hewn/data/synthetic/click_rows.h"

namespace hewn::data {

/// The slots of a field whose values have these weights: a value in constant time from one random word.
std::vector<AliasSlot> alias_slots(const std::vector<double>& weights);

}  // namespace hewn::data
