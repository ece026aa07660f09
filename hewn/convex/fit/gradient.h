#pragma once

#include "hewn/convex/fit/state.h"

namespace hewn::convex {

/// Of every group.
void full_gradient(State& state);
/// Of the working set, and of all groups that could violate their condition at lambda.
void gradient_where_needed(State& state, double lambda);
/// Of those among them that are not in the working set.
void gradient_of_zero_groups(State& state, const std::vector<Index>& among);

}  // namespace hewn::convex
