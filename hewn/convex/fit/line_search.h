#pragma once

#include "hewn/convex/fit/state.h"
#include "hewn/convex/solver/anderson.h"

namespace hewn::convex {

/// From `old` towards the current coefficients; leaves the point with the lower objective. False where
/// rounding stops it. `x` and `intercept_step` as in move_predictor().
bool line_search(State& state, const Centred& x, const Vector& old, const Eigen::RowVectorXd& intercept_step,
                 double lambda);
/// The working set's coefficients and the intercept, as one vector.
Vector gathered(const State& state);
/// Goes to an extrapolated point, whose x is like gathered() and which carries the linear predictor; comes
/// back, and says so, where the objective is not lower there.
bool try_point(State& state, const Anderson::Point& further, double lambda);

}  // namespace hewn::convex
