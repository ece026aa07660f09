#pragma once

#include "hewn/convex/fit/state.h"

namespace hewn::convex {

/// After a change of the linear predictor: loss and residuals.
void update_residual(State& state);
/// Carries linear predictor and intercept `share` of the way from `old` to the current coefficients; `x` says
/// how columns are centred. Residuals stay as they were.
void move_predictor(State& state, const Centred& x, const Vector& old,
                    const Eigen::RowVectorXd& intercept_step, double share);
/// Newton on the intercept alone, to rounding: the dual bound needs residuals that sum to zero.
void fit_intercept(State& state);

/// Loss and ridge.
double smooth_objective(const State& state);
/// With the penalty.
double objective(const State& state, double lambda);

}  // namespace hewn::convex
