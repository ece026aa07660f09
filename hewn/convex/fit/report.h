#pragma once

#include "hewn/convex/fit/state.h"
#include "hewn/convex/solver/solution.h"

namespace hewn::convex {

/// The current point as a solution at lambda, with its certificate.
Solution report(State& state, double lambda, int sweeps, double tolerance);
/// What violations at lambda are measured by: lambda as a share of the penalty's own tau, times the
/// gradients' tau.
double in_gradient_units(const State& state, double lambda);
/// A lower bound of the group-LASSO minimum from the current point.
double lower_bound(const State& state, double lambda);

}  // namespace hewn::convex
