#pragma once

#include <vector>

#include "hewn/prune/layer.h"
#include "hewn/prune/plan.h"
#include "hewn/prune/recipes.h"

namespace hewn::prune {

/// The layers that a plan prunes, from their slots. Throws Error where plan, slots, score and schedule do not
/// go together. May change the leaves' values; see make_score.
std::vector<Layer> make_layers(const std::vector<WeightSlot>& slots, const Plan& plan, const Recipe& recipe,
                               const Schedule& schedule);

}  // namespace hewn::prune
