#pragma once

#include "hewn/convex/problem.h"

namespace hewn::convex {

/// Sample weights that sum to 1. Checks the problem first.
Vector normalised_weights(const Problem& problem);
/// What multiplies each column: reciprocal standard deviations where the problem asks for them. Constant
/// columns keep their scale.
Vector column_scales(const Problem& problem, const Vector& weights);

}  // namespace hewn::convex
