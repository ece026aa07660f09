#pragma once

#include <vector>

#include "hewn/prune/plan.h"

namespace hewn::prune {

/// Says of every layer that the plan prunes how many blocks it keeps, by the plan's budget, and under a limit
/// what its blocks cost. Throws Error where a limit cannot be met.
void share_budget(Plan& plan, const std::vector<WeightShape>& weights);

/// Of the blocks that are a layer's fair share a tenth, and one at least, is kept whatever the others offer.
int64_t least_blocks(int64_t share);

}  // namespace hewn::prune
