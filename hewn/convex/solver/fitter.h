#pragma once

#include <cstdint>
#include <vector>

#include "hewn/convex/solver/anderson.h"
#include "hewn/convex/solver/model.h"
#include "hewn/convex/solver/solution.h"

namespace hewn::convex {

/// Solves a problem at one lambda after the other, each from where the last one ended. The state of a path:
/// what never changes (problem, weights, scales), how to solve (options), what moves (coefficients, linear
/// predictor, gradient, working set) and what was counted.
class Fitter {
 public:
  /// Fits intercept and unpenalised groups. Throws Error where the problem does not fit.
  Fitter(const Problem& problem, const Penalty& penalty, const Options& options);

  /// The least lambda at which the group LASSO is empty, and at which group that ends.
  double tau() const { return tau_; }
  Index first_group() const { return first_group_; }
  /// The objective with intercept and unpenalised groups only.
  double null_objective() const { return null_objective_; }

  Solution fit(double lambda);

  /// Norm of minus the gradient per group at the current point.
  Vector gradient_norms();
  /// A lower bound of the group-LASSO minimum from the current point, at the lambda of the last fit.
  double lower_bound(double lambda) const;

  const Problem& problem() const { return problem_; }
  const Vector& weights() const { return weights_; }
  const Vector& scale() const { return scale_; }
  /// In scaled coordinates, group after group.
  const Vector& beta() const { return beta_; }
  const Matrix& eta() const { return eta_; }
  /// Continues from other coefficients (scaled, group order).
  void start_from(const Vector& beta);

 private:
  Eigen::Map<Vector> values(Index g) {
    return {beta_.data() + problem_.groups.start(g), problem_.groups.size(g)};
  }
  Eigen::Map<const Vector> values(Index g) const {
    return {beta_.data() + problem_.groups.start(g), problem_.groups.size(g)};
  }
  double unit(Index g) const { return problem_.groups.weight(g) > 0 ? problem_.groups.weight(g) : 1; }

  // working_set.cpp
  std::vector<Index> strong_set(double lambda) const;
  void gradient_of_zero_groups(const std::vector<Index>& among);
  void gradient_where_needed(double lambda);
  void gradient_of(const std::vector<Index>& groups);
  void full_gradient();
  int snapshot();
  double violation_of(Index group, double lambda) const;
  double others(Index group) const;
  bool leaves_zero(Index group, double lambda) const;
  bool add_violators(const std::vector<Index>& among, double lambda, double tolerance);

  // steps.cpp
  int fit_working(double lambda, double tolerance, int max_sweeps);
  int majorise(double lambda, double tolerance, int max_sweeps);
  int newton(double lambda, double tolerance, int max_sweeps);
  void try_point(const Anderson::Point& point, double lambda);
  bool line_search(const Centred& x, const Vector& old, const Eigen::RowVectorXd& intercept_step,
                   double lambda);
  void fit_intercept();
  Index working_size() const;
  void gather(Vector& point) const;

  void update_residual();
  void choose_mode(const std::vector<Index>& entering);
  void move(const Centred& x, const Vector& old, const Eigen::RowVectorXd& intercept_step, double share);
  double smooth_objective() const;
  double penalty_value(double lambda) const;
  Vector beta_norms() const;
  Solution report(double lambda, int sweeps, double tolerance) const;

  static constexpr int kInnerSweeps = 10;   // on one upper bound
  static constexpr Index kSmallModel = 64;  // features up to which a Newton step forms inner products

  const Problem& problem_;
  Penalty penalty_;
  Options options_;
  Vector weights_;  // sum 1
  Vector scale_;
  Centred x_;
  bool fixed_curvature_;
  Model model_;
  mutable Model probe_;  // eigenbases of groups outside the working set; non-convex penalties only

  Vector beta_;
  Eigen::RowVectorXd intercept_;  // of the scaled, not centred columns
  Matrix eta_;
  Matrix residual_;
  Matrix v_;  // weighted residual
  double loss_ = 0;
  Matrix gradient_;             // minus the gradient, p x K
  double gradient_lambda_ = 0;  // where it was last known well enough everywhere
  // What is known of gradients that were not computed again: each moves at most by `reach` times the distance
  // that the residual went since.
  Vector known_norm_;              // of minus the gradient, when last computed
  std::vector<int> known_at_;      // snapshot of that time
  std::vector<int64_t> exact_at_;  // value of version_ at that time
  std::vector<Matrix> snapshots_;  // weighted residuals over root weights
  Vector reach_;                   // Frobenius norm of the group's columns
  int64_t version_ = 0;            // counts changes of the residual
  std::vector<Index> working_;
  std::vector<bool> in_working_;
  double tau_ = 0;
  Index first_group_ = 0;
  double null_objective_ = 0;
  double noise_ = 0;  // gradients below this are rounding
};

}  // namespace hewn::convex
