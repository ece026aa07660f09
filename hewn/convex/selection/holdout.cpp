#include "hewn/convex/selection/holdout.h"

#include <algorithm>
#include <cmath>

#include "hewn/convex/solver/subset.h"
#include "hewn/core/error.h"
#include "hewn/core/random.h"

namespace hewn::convex {
namespace {

/// The linear predictor of some groups, refitted.
Matrix refitted_eta(const Problem& problem, const std::vector<Index>& groups) {
  Problem refitted = problem;
  if (problem.loss->may_diverge()) refitted.ridge = std::max(problem.ridge, 1e-3);
  Subsets subsets(refitted);
  std::vector<Index> all = subsets.always();
  all.insert(all.end(), groups.begin(), groups.end());
  // Enough for an accuracy, and with all features a good part of the time.
  constexpr double kTolerance = 1e-9;
  const Solution solution = subsets.solution(subsets.fit(all, nullptr, kTolerance));
  const Matrix coefficients = solution.coefficients(problem.groups);
  std::vector<int> features(to_size(coefficients.rows()));
  for (std::size_t j = 0; j < features.size(); ++j) features[j] = static_cast<int>(j);
  Matrix eta =
      problem.offset.size() != 0 ? problem.offset : Matrix::Zero(problem.x->rows(), problem.y.cols());
  problem.x->add_times(features, coefficients, eta);
  eta.rowwise() += solution.intercept;
  return eta;
}

/// Share of right classes.
double accuracy_of(const Matrix& predicted, const Matrix& y, const Vector& w) {
  double out = 0;
  for (Index i = 0; i < predicted.rows(); ++i) {
    Index guess = 0;
    Index truth = 0;
    if (predicted.cols() > 1) {
      predicted.row(i).maxCoeff(&guess);
      y.row(i).maxCoeff(&truth);
    } else {
      guess = predicted(i, 0) > 0.5 ? 1 : 0;
      truth = y(i, 0) > 0.5 ? 1 : 0;
    }
    if (guess == truth) out += w[i];
  }
  return out;
}

double variance_explained(const Matrix& predicted, const Matrix& y, const Vector& w) {
  const Eigen::RowVectorXd mean = w.transpose() * y;
  const double total = ((y.rowwise() - mean).array().square().colwise() * w.array()).sum();
  const double rest = ((y - predicted).array().square().colwise() * w.array()).sum();
  return total > 0 ? 1 - rest / total : 0;
}

}  // namespace

Vector leave_out(Problem& problem, double share, uint64_t seed) {
  const Index n = problem.x->rows();
  const auto count = static_cast<Index>(std::llround(share * static_cast<double>(n)));
  if (count < 1 || count >= n)
    throw Error(str("holdout: ", count, " of ", n, " samples is too few or all of them"));
  if (problem.sample_weight.size() == 0) problem.sample_weight = Vector::Ones(n);
  Vector outside = Vector::Zero(n);
  const std::vector<int64_t> order = permutation(seed, 1, n);
  for (Index i = 0; i < count; ++i)
    std::swap(outside[order[to_size(i)]], problem.sample_weight[order[to_size(i)]]);
  return outside;
}

HoldoutScore score_of(const Problem& problem, const Vector& outside, const std::vector<Index>& groups) {
  Matrix eta = refitted_eta(problem, groups);
  HoldoutScore out;
  Matrix residual;
  const Vector w = outside / outside.sum();
  out.loss = problem.loss->value(eta, problem.y, w, residual);
  problem.loss->predict(eta);
  const bool classes = problem.loss == &find_loss("multinomial") || problem.loss == &find_loss("binomial");
  out.accuracy = classes ? accuracy_of(eta, problem.y, w) : variance_explained(eta, problem.y, w);
  return out;
}

}  // namespace hewn::convex
