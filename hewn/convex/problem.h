#pragma once

#include <memory>
#include <vector>

#include "hewn/convex/design/design.h"
#include "hewn/convex/groups.h"
#include "hewn/convex/loss/loss.h"

namespace hewn::convex {

/// What is to be solved, apart from penalty and lambda: minimise over B (p x K) and an intercept a
///   sum_i w_i f(x_i'B + a + offset_i, y_i) + ridge/2 ||B||^2 + penalty,   w_i normalised to sum 1.
struct Problem {
  std::shared_ptr<const Design> x;
  Matrix y;  // n x K
  const Loss* loss = nullptr;
  Groups groups = Groups::features(0, 1);
  /// Non-negative; empty: every sample counts the same.
  Vector sample_weight;
  /// n x K, added to the linear predictor; empty: none.
  Matrix offset;
  double ridge = 0;
  bool intercept = true;
  /// Divide each column by its standard deviation; penalties then see the scaled coefficients.
  bool standardise = false;
};

/// Throws Error, naming what does not fit.
void check(const Problem& problem);

enum class Mode { kAuto, kGram, kResidual };
enum class Curvature { kAuto, kFixed, kNewton };

/// How to solve it.
struct Options {
  /// Largest violation of the optimality conditions, relative to lambda times the group's weight.
  double tolerance = 1e-6;
  /// Passes over groups in one solution before it counts as not converged.
  int max_sweeps = 100000;
  /// Inner products between features (Gram) or residuals; auto: Gram while the active size is below n.
  Mode mode = Mode::kAuto;
  /// Fixed bound of the loss's curvature or its value at each step; auto: fixed where there is one.
  Curvature curvature = Curvature::kAuto;
  /// Leave out groups that are unlikely to enter, and check them afterwards.
  bool screen = true;
  /// Sweeps that an extrapolation looks back on; 0: none.
  int anderson = 5;
  /// Elastic net: this share of lambda goes to the penalty, the rest to ridge; group LASSO only.
  double mix = 1;
  /// Groups that may have values, the others being zero; empty: all.
  std::vector<Index> only;
  /// Bytes of inner products to keep at most.
  Index gram_bytes = Index{1} << 30;
};

}  // namespace hewn::convex
