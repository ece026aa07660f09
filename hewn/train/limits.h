#pragma once

#include <string>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/prune/plan.h"

namespace hewn::train {

/// What a plan's budget allows, for people: nothing where every layer's share is known before training.
std::vector<std::string> limit_notes(const prune::Plan& plan);

/// The same for programs: `name`; under a limit its `unit`, what the `dense` network costs, the `limit`, what
/// is spent whatever is kept (`fixed`) and what is left for kept blocks (`for_blocks`).
Json limit_json(const prune::Plan& plan);

}  // namespace hewn::train
