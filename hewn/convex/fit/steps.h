#pragma once

#include "hewn/convex/fit/state.h"

namespace hewn::convex {

/// Minimises over the working set, all other groups at zero; the number of sweeps.
int fit_working(State& state, double lambda, double tolerance, int max_sweeps);

}  // namespace hewn::convex
