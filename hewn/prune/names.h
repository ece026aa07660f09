#pragma once

#include <vector>

#include "hewn/core/table.h"

namespace hewn::prune {

/// The scores and searches by name, for those that only choose one: their rows need tensors.
const std::vector<NameRow>& score_names();
const std::vector<NameRow>& search_names();

}  // namespace hewn::prune
