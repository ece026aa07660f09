#pragma once

#include <memory>

#include "hewn/convex/problem.h"
#include "hewn/convex/solver/solution.h"

namespace hewn::convex {

/// A least-squares problem with many samples and few features, as one of hardly more rows than features that
/// has the same objective for all coefficients: a triangular factor of the inner products of features and
/// responses. Intercept, weights, offset and scale are already in it.
struct Condensed {
  Problem problem;
  Vector mean;                       // of the columns, in the units of the data
  Eigen::RowVectorXd response_mean;  // after the offset
  Vector scale;                      // of the columns

  /// Puts coefficients and intercept back into the units of the data.
  void restore(Solution& solution) const;
};

/// Empty where it does not pay, and where features or responses depend on each other so nearly that inner
/// products would lose digits.
std::unique_ptr<Condensed> condense(const Problem& problem, const Options& options);

}  // namespace hewn::convex
