#pragma once

#include "hewn/convex/fit/state.h"
#include "hewn/convex/solver/solution.h"

namespace hewn::convex {

/// The current point as a solution at lambda, with its certificate.
Solution report(State& state, double lambda, int sweeps, double tolerance);
/// A lower bound of the group-LASSO minimum from the current point.
double lower_bound(const State& state, double lambda);

}  // namespace hewn::convex
