#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hewn/convex/linalg/kept_factor.h"
#include "hewn/convex/penalty/penalty.h"
#include "hewn/convex/problem.h"
#include "hewn/convex/solver/quadratic.h"

namespace hewn::convex {

/// What never changes while lambdas are followed.
struct Fixed {
  Fixed(const Problem& problem, const Penalty& penalty, const Options& options);

  const Problem& problem;
  Penalty penalty;
  Options options;
  Vector weights;  // of samples, sum 1
  Vector scale;    // of columns
  Centred x;
  bool fixed_curvature;       // one quadratic bounds the loss for ever, and serves
  Vector reach;               // Frobenius norm of each group's columns
  double noise = 0;           // gradients below this are rounding
  std::vector<bool> allowed;  // groups that may have values
};

/// Where a fit is.
struct Point {
  Vector beta;                   // in scaled coordinates, group after group
  Eigen::RowVectorXd intercept;  // of the scaled, not centred columns
  Matrix eta;                    // linear predictor
  Matrix residual;
  Matrix v;  // weighted residual
  double loss = 0;
};

/// Minus the gradient, and what is known of it where it was not computed again: each group's moves at most by
/// `reach` times the distance that the residual went since.
struct Gradient {
  Matrix values;                  // p x K
  double lambda = 0;              // where it was last known well enough everywhere
  Vector norm;                    // per group, when last computed
  std::vector<int> known_at;      // snapshot of that time; -1: none
  std::vector<int64_t> exact_at;  // version of the residual at that time
  std::vector<Matrix> snapshots;  // weighted residuals over root weights
};

/// The groups that a fit moves, in the order of entering.
struct WorkingSet {
  std::vector<Index> groups;
  std::vector<bool> has;
};

/// The fit of intercept and unpenalised groups alone.
struct Null {
  double tau = 0;         // the least lambda at which the group LASSO is empty
  Index first_group = 0;  // that ends it
  double own_tau = 0;     // the least lambda at which no group alone leaves zero under the own penalty
  double objective = 0;
};

/// The loss's own curvature as it was at some point, and what is known of the working set under it.
struct Held {
  Held(const Fixed& fixed, Vector curvature);

  Vector curvature;  // weighted
  Centred x;
  Quadratic quadratic;
  KeptFactor factor;
  double best;      // share of the violation that a step left, at best
  double lost = 0;  // steps that a curvature of the point itself would have saved
  int steps = 0;
};

/// All of a fit. Quadratics point into it: it stays where it is.
struct State {
  State(const Problem& problem, const Penalty& penalty, const Options& options);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const Fixed fixed;
  // What moves.
  Point point;
  Gradient gradient;
  WorkingSet working;
  Quadratic quadratic;         // of the working set; with fixed curvature only
  KeptFactor factor;           // of that
  std::unique_ptr<Held> held;  // the same without
  Quadratic probe;             // eigenbases of groups outside the working set; non-convex penalties only
  Null null;
  // What is counted.
  int64_t version = 0;  // changes of the residual
};

inline Eigen::Map<Vector> values_of(State& state, Index group) {
  const Groups& groups = state.fixed.problem.groups;
  return {state.point.beta.data() + groups.start(group), groups.size(group)};
}
inline Eigen::Map<const Vector> values_of(const State& state, Index group) {
  const Groups& groups = state.fixed.problem.groups;
  return {state.point.beta.data() + groups.start(group), groups.size(group)};
}

}  // namespace hewn::convex
