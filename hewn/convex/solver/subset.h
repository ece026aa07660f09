#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "hewn/convex/design/centred.h"
#include "hewn/convex/solver/quadratic.h"
#include "hewn/convex/solver/solution.h"

namespace hewn::convex {

/// The minimiser over the coefficients of some groups alone, no penalty but ridge.
struct SubsetFit {
  std::vector<Index> groups;
  Vector values;                 // theirs, one group after the other, scaled as the solver sees them
  Eigen::RowVectorXd intercept;  // of scaled, centred columns
  Matrix residual;
  double loss = 0;
  double objective = 0;  // with ridge
  bool converged = false;
};

/// What the objective is at some values of some groups.
struct Evaluation {
  double loss = 0;
  double objective = 0;  // with ridge
  Matrix residual;
  Vector slope;                        // gradient of the objective in the values
  Eigen::RowVectorXd intercept_slope;  // and in the intercept
};

/// Fits subsets of groups; keeps inner products between the features met. Groups of weight 0 are in every
/// subset.
class Subsets {
 public:
  /// Throws Error where the problem does not fit.
  explicit Subsets(const Problem& problem);

  /// From the values that `warm` has for the same groups. Throws Error where there is no minimiser.
  /// `tolerance`: decrease of the objective, relative to it, that is not worth another step.
  SubsetFit fit(const std::vector<Index>& groups, const SubsetFit* warm, double tolerance = 1e-15);

  /// Minus the gradient of loss and ridge, p x K, at a fit.
  Matrix gradient(const SubsetFit& fit) const;
  /// How far the objective of a fit may be above the minimum over its groups; an estimate where the loss is
  /// not squared error and there is no ridge.
  double excess(const SubsetFit& fit);
  /// At any values of some groups.
  void evaluate(const std::vector<Index>& groups, const Vector& values, const Eigen::RowVectorXd& intercept,
                Evaluation& out) const;

  const Problem& problem() const { return problem_; }
  const Vector& weights() const { return weights_; }
  /// The curvature of a group in its eigenbasis, for scores that use it.
  const Block& block(Index group);
  /// A bound of the curvature in all coefficients together, at most their number times the largest; for
  /// losses without a bound at a mean of 1.
  double total_curvature() const { return total_curvature_; }
  Index size(const std::vector<Index>& groups) const;
  const std::vector<Index>& always() const { return always_; }
  /// In the units of the data.
  Solution solution(const SubsetFit& fit) const;

 private:
  Vector start(const std::vector<Index>& groups, const SubsetFit* warm) const;
  std::function<Vector(const Vector&)> preconditioner(const std::vector<Index>& groups, const Matrix& eta);
  Matrix curved_gram(const std::vector<int>& features, const Vector& h) const;
  Matrix weighted_columns(const std::vector<int>& features, const Vector& h) const;
  Matrix linear(const std::vector<Index>& groups, const Vector& values,
                const Eigen::RowVectorXd& intercept) const;
  void entries(const std::vector<Index>& groups, std::vector<int>& features,
               std::vector<std::vector<std::pair<Index, Index>>>& by_output) const;

  const Problem& problem_;
  Vector weights_;
  Vector scale_;
  Centred x_;
  Quadratic quadratic_;  // inner products under the sample weights
  Quadratic probe_;      // eigenbases alone, of any group
  std::vector<Index> always_;
  double total_curvature_ = 0;
  Eigen::Array<bool, Eigen::Dynamic, 1> varies_;  // of features: with an intercept, those not constant
};

}  // namespace hewn::convex
