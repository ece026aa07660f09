#pragma once

#include <vector>

#include "hewn/convex/penalty/block_root.h"
#include "hewn/convex/solver/quadratic.h"

namespace hewn::convex {

/// Room for one group's values in its eigenbasis.
struct BlockScratch {
  Vector u;
  Vector u2;  // squared norm of each row
};

/// What the group's minimiser is to be found for, from its values and minus the gradient there. Points into
/// `scratch`.
Spectrum to_eigenbasis(const Block& block, const std::vector<Part>& parts, const double* values,
                       const double* slope, BlockScratch& scratch);
/// Values at u / (curvature + nu), back in the group's own coordinates.
void from_eigenbasis(const Block& block, const std::vector<Part>& parts, double nu, BlockScratch& scratch,
                     double* values);

/// A group of one coefficient under the norm times l: how far it is from optimal, and the step to its
/// minimum.
struct SingleStep {
  double violation;
  double step;
};
SingleStep single_step(double value, double slope, double curvature, double l);

}  // namespace hewn::convex
