#pragma once

#include "hewn/convex/selection/method.h"

namespace hewn::convex {

/// Trains the masks of a mask method at the lambda of the solution found, from several starts, and compares.
/// Throws Error where the method has none.
TrainedMask train_masks(const Selection& found, const ChosenMethod& chosen, uint64_t seed);

/// Throws Error where the constants cannot be known exactly.
OmprDemand demand_of(const Problem& problem, Index k);

}  // namespace hewn::convex
