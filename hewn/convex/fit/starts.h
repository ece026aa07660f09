#pragma once

#include <vector>

#include "hewn/convex/penalty/penalty.h"
#include "hewn/convex/problem.h"

namespace hewn::convex {

/// Fits of growing sets of groups, as orthogonal matching pursuit chooses them: where to start a penalty with
/// many local minima from.
class PursuitStarts {
 public:
  /// Up to so many groups.
  PursuitStarts(const Problem& problem, Index most);

  /// The set whose fit has the least objective at this lambda: values of all groups, scaled. Empty where
  /// there is none.
  Vector best(const Penalty& penalty, double lambda, const Vector& weights) const;

 private:
  struct Start {
    Vector values;
    Vector norms;   // per group
    double smooth;  // loss and ridge
  };
  std::vector<Start> starts_;
};

}  // namespace hewn::convex
