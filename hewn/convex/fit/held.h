#pragma once

#include "hewn/convex/fit/state.h"

namespace hewn::convex {

/// Newton steps of a loss with one output on the working set; the number of sweeps. Inner products under the
/// loss's curvature cost more than many steps, and the curvature changes slowly along a path: they are kept,
/// over lambdas too, until what they cost in slower steps comes to the price of new ones.
int held_newton(State& state, double lambda, double tolerance, int max_sweeps);

}  // namespace hewn::convex
