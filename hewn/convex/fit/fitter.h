#pragma once

#include "hewn/convex/fit/state.h"
#include "hewn/convex/solver/solution.h"

namespace hewn::convex {

/// Solves a problem at one lambda after the other, each from where the last one ended. A thin face of the
/// state and the functions in this folder.
class Fitter {
 public:
  /// Fits intercept and unpenalised groups. Throws Error where the problem does not fit.
  Fitter(const Problem& problem, const Penalty& penalty, const Options& options);

  Solution fit(double lambda);
  /// Continues from other coefficients (scaled, group order).
  void start_from(const Vector& beta);

  /// The least lambda at which the group LASSO is empty, and at which group that ends.
  double tau() const { return state_.null.tau; }
  /// The same for the own penalty, which need not be in the units of a gradient.
  double own_tau() const { return state_.null.own_tau; }
  Index first_group() const { return state_.null.first_group; }
  /// The objective with intercept and unpenalised groups only.
  double null_objective() const { return state_.null.objective; }

  /// Norm of minus the gradient per group at the current point.
  Vector gradient_norms();
  /// A lower bound of the group-LASSO minimum from the current point, at the lambda of the last fit.
  double lower_bound(double lambda) const;

  const Problem& problem() const { return state_.fixed.problem; }
  const Vector& weights() const { return state_.fixed.weights; }
  const Vector& scale() const { return state_.fixed.scale; }
  /// In scaled coordinates, group after group.
  const Vector& beta() const { return state_.point.beta; }

 private:
  State state_;
};

}  // namespace hewn::convex
