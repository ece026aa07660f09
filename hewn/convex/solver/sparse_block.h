#pragma once

#include <vector>

#include "hewn/convex/penalty/sparse_group.h"
#include "hewn/convex/solver/quadratic.h"

namespace hewn::convex {

/// One group of a quadratic under a penalty of its norm and of its single values. There is no formula for the
/// minimiser: proximal steps find which values are zero, Newton steps the others.
class SparseBlock {
 public:
  SparseBlock(const Block& block, const std::vector<Part>& parts, SparseGroup penalty)
      : block_(block), parts_(parts), penalty_(penalty) {}

  /// From values and minus the gradient there: nearer to optimal by a factor of a hundred or more, unless
  /// that takes very many steps.
  Vector minimise(const SparseGroup::Values& values, const SparseGroup::Values& slope) const;

 private:
  /// The curvature times a change of values.
  Vector times(const Vector& delta) const;
  /// A step over the values that are not zero, kept on their side of it; empty where there is none.
  Vector newton_step(const Vector& values, const Vector& slope) const;

  const Block& block_;
  const std::vector<Part>& parts_;
  SparseGroup penalty_;
};

}  // namespace hewn::convex
