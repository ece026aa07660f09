#pragma once

#include "hewn/convex/penalty/penalty.h"

namespace hewn::convex {

/// The quadratic b' diag(curvature) b / 2 - u'b of one block in the basis of its eigenvectors; all that the
/// minimiser needs of u is each row's squared norm.
struct Spectrum {
  const double* curvature;
  const double* u2;
  Index count;
};

/// The minimiser of the quadratic plus l ||b|| is u_r / (curvature_r + nu); this is nu. Infinity: b = 0.
/// `near` is a guess of ||b||.
double lasso_multiplier(const Spectrum& spectrum, double l, double near);

/// The same for any penalty of the norm: the best of 0 and the stationary points with largest and smallest
/// norm.
double multiplier(const Spectrum& spectrum, const Along& along);

/// The value of the quadratic at the b that nu gives, and its norm.
struct BlockPoint {
  double quadratic;
  double norm;
};
BlockPoint block_point(const Spectrum& spectrum, double nu);

}  // namespace hewn::convex
