#pragma once

#include <vector>

#include "hewn/convex/linalg/kept_factor.h"
#include "hewn/convex/solver/quadratic.h"

namespace hewn::convex {

/// Coefficients up to which a Newton step on the active groups is worth its factorisation.
inline constexpr Index kMostNewton = 400;
/// The same of a factorisation that is kept.
inline constexpr Index kMostKept = 2000;

/// A Newton step of the group LASSO on groups that have values, `beta` and minus the gradient of the
/// quadratic one group after the other. Coordinate descent crawls where columns nearly depend on each other;
/// this does not. It ends where the first group of one coefficient would change its sign. Empty where there
/// is none. Gram mode only.
Vector newton_step(const Quadratic& quadratic, const std::vector<Index>& active, double lambda,
                   const Vector& beta, const Vector& slopes);

/// The same for groups of one coefficient of one output, each with its column. The Hessian is the same for
/// all of them wherever they are, so that its factor is kept. A coefficient of zero goes the way it is
/// pulled.
Vector newton_step(const Quadratic& quadratic, const std::vector<Index>& active, double lambda,
                   const Vector& beta, const Vector& slopes, KeptFactor& factor);

}  // namespace hewn::convex
