#pragma once

#include <memory>
#include <vector>

#include "hewn/convex/linalg/kept_factor.h"
#include "hewn/convex/penalty/penalty.h"
#include "hewn/convex/solver/quadratic.h"

namespace hewn::convex {

struct DescentOptions {
  double tolerance = 1e-6;  // absolute: largest violation divided by the group's weight (1 where that is 0)
  int max_sweeps = 1000;
  int anderson = 5;
  double relative = 0;  // a violation of this share of that at the start is enough too
};

struct DescentResult {
  int sweeps = 0;
  double before = 0;  // largest violation at the start
  double after = 0;   // largest violation met in the last full sweep
};

/// What is minimised: a quadratic and lambda times a penalty, over the groups of `working`.
struct PenalisedQuadratic {
  const Quadratic& quadratic;
  const Penalty& penalty;
  double lambda;
  const std::vector<Index>& working;
  KeptFactor* factor = nullptr;  // of the quadratic, where it serves for more than one descent
};

/// Block coordinate descent on  <-V, X~ D> + the quadratic at D + penalty(B + D), over D on `working`.
/// `v` (n x K) is minus the loss's gradient in eta at `beta`, weighted; `beta` holds all groups' values and
/// is changed in place.
DescentResult descend(const PenalisedQuadratic& minimised, const ConstView& v, Vector& beta,
                      const DescentOptions& options);

}  // namespace hewn::convex
