#pragma once

#include <vector>

#include "hewn/convex/solver/quadratic.h"

namespace hewn::convex {

/// Coefficients up to which a Newton step on the active groups is worth its factorisation.
inline constexpr Index kMostNewton = 400;

/// A Newton step of the group LASSO on groups that have values, `beta` and minus the gradient of the
/// quadratic one group after the other. Coordinate descent crawls where columns nearly depend on each other;
/// this does not. It ends where the first group of one coefficient would change its sign. Empty where there
/// is none. Gram mode only.
Vector newton_step(const Quadratic& quadratic, const std::vector<Index>& active, double lambda,
                   const Vector& beta, const Vector& slopes);

}  // namespace hewn::convex
