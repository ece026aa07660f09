#pragma once

#include <functional>

#include "hewn/convex/types.h"

namespace hewn::convex {

struct LbfgsOptions {
  int max_iterations = 1000;
  int memory = 10;
  /// Stop when the decrease that the next step promises is below this share of the value.
  double tolerance = 1e-15;
  double floor = 0;  // and this, whatever the value is: an exact fit has a value of rounding only
  /// Multiplies a gradient by an approximate inverse Hessian; empty: the identity.
  std::function<Vector(const Vector&)> precondition;
};

struct Minimised {
  Vector x;
  double value = 0;
  int iterations = 0;
  bool converged = false;
};

/// Minimises a smooth function by limited-memory BFGS with backtracking. `f` returns the value and sets the
/// gradient. With an exact inverse Hessian one step is enough.
Minimised minimise(const std::function<double(const Vector&, Vector&)>& f, Vector x,
                   const LbfgsOptions& options);

}  // namespace hewn::convex
