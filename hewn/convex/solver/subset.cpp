#include "hewn/convex/solver/subset.h"

#include <algorithm>
#include <cmath>

#include "hewn/convex/solver/lbfgs.h"
#include "hewn/convex/solver/prepare.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

double subset_factor(const Problem& problem) {
  const double curvature = problem.loss->curvature();
  return std::isfinite(curvature) ? curvature : 1;
}

}  // namespace

Subsets::Subsets(const Problem& problem)
    : problem_(problem),
      weights_(normalised_weights(problem)),
      scale_(column_scales(problem, weights_)),
      x_(*problem.x, scale_, weights_, problem.intercept),
      quadratic_(x_, problem.groups, weights_, subset_factor(problem), problem.ridge, true),
      probe_(x_, problem.groups, weights_, subset_factor(problem), problem.ridge, false) {
  for (Index g = 0; g < problem.groups.count(); ++g) {
    if (problem.groups.weight(g) == 0) always_.push_back(g);
  }
  Vector first;
  Vector spread;
  problem.x->moments(weights_, first, spread);
  if (!problem.intercept) spread += first.cwiseAbs2();
  // A constant column is nothing once it is centred; what is left of it is rounding.
  varies_ = spread.array() > 1e-26 * (spread.array() + first.array().square());
  total_curvature_ = quadratic_.factor() * (spread.array() * scale_.array().square()).sum() + problem.ridge;
}

Index Subsets::size(const std::vector<Index>& groups) const {
  Index size = 0;
  for (const Index g : groups) size += problem_.groups.size(g);
  return size;
}

/// The features of the groups and, per output, which value (second) belongs to which of them (first).
void Subsets::entries(const std::vector<Index>& groups, std::vector<int>& features,
                      std::vector<std::vector<std::pair<Index, Index>>>& by_output) const {
  std::vector<Index> row(to_size(x_.cols()), -1);
  by_output.assign(to_size(problem_.y.cols()), {});
  Index at = 0;
  for (const Index g : groups) {
    for (const Part& part : problem_.groups.parts(g)) {
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) {
          if (row[to_size(j)] < 0) {
            row[to_size(j)] = to_index(features.size());
            features.push_back(j);
          }
          by_output[to_size(part.first_output + k)].emplace_back(row[to_size(j)], at++);
        }
      }
    }
  }
}

Matrix Subsets::linear(const std::vector<Index>& groups, const Vector& values,
                       const Eigen::RowVectorXd& intercept) const {
  std::vector<int> features;
  std::vector<std::vector<std::pair<Index, Index>>> by_output;
  entries(groups, features, by_output);
  Matrix coefficients = Matrix::Zero(to_index(features.size()), problem_.y.cols());
  for (std::size_t k = 0; k < by_output.size(); ++k) {
    for (const auto& [row, at] : by_output[k]) coefficients(row, to_index(k)) = values[at];
  }
  Matrix eta = problem_.offset.size() != 0 ? problem_.offset : Matrix::Zero(x_.rows(), problem_.y.cols());
  x_.add_times(features, coefficients, eta);
  eta.rowwise() += intercept;
  return eta;
}

void Subsets::evaluate(const std::vector<Index>& groups, const Vector& values,
                       const Eigen::RowVectorXd& intercept, Evaluation& out) const {
  const Matrix eta = linear(groups, values, intercept);
  out.loss = problem_.loss->value(eta, problem_.y, weights_, out.residual);
  const Matrix v = out.residual.array().colwise() * weights_.array();
  std::vector<int> features;
  std::vector<std::vector<std::pair<Index, Index>>> by_output;
  entries(groups, features, by_output);
  Matrix pull(to_index(features.size()), v.cols());
  const Eigen::RowVectorXd sums = v.colwise().sum();
  x_.transpose_times(features, v, sums, pull);
  out.slope.resize(values.size());
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (!varies_[features[i]]) pull.row(to_index(i)).setZero();
  }
  for (std::size_t k = 0; k < by_output.size(); ++k) {
    for (const auto& [row, at] : by_output[k])
      out.slope[at] = problem_.ridge * values[at] - pull(row, to_index(k));
  }
  out.intercept_slope = problem_.intercept ? Eigen::RowVectorXd(-sums) : Eigen::RowVectorXd::Zero(v.cols());
  out.objective = out.loss + 0.5 * problem_.ridge * values.squaredNorm();
}

/// Values of the groups and intercept to start from, as one vector.
Vector Subsets::start(const std::vector<Index>& groups, const SubsetFit* warm) const {
  const Index outputs = problem_.y.cols();
  Vector out = Vector::Zero(size(groups) + outputs);
  if (warm != nullptr) {
    Index at = 0;
    for (const Index g : groups) {
      Index from = 0;
      for (const Index other : warm->groups) {
        if (other == g)
          out.segment(at, problem_.groups.size(g)) = warm->values.segment(from, problem_.groups.size(g));
        from += problem_.groups.size(other);
      }
      at += problem_.groups.size(g);
    }
    out.tail(outputs) = warm->intercept.transpose();
  } else if (problem_.intercept) {
    out.tail(outputs) = problem_.loss->start(weights_.transpose() * problem_.y).transpose();
  }
  return out;
}

SubsetFit Subsets::fit(const std::vector<Index>& groups, const SubsetFit* warm, double tolerance) {
  const Index outputs = problem_.y.cols();
  const Index count = size(groups);
  LbfgsOptions options;
  options.tolerance = tolerance;
  options.floor = 1e-28 * std::min(1e200, (problem_.y.array().square().colwise() * weights_.array()).sum());
  options.memory = 20;
  options.max_iterations = 30;
  Evaluation evaluation;
  const auto f = [&](const Vector& at, Vector& gradient) {
    evaluate(groups, at.head(count), at.tail(outputs).transpose(), evaluation);
    gradient << evaluation.slope, evaluation.intercept_slope.transpose();
    return evaluation.objective;
  };
  // Curvature is taken anew now and then, until a step with it has nothing left to gain.
  Minimised found;
  found.x = start(groups, warm);
  constexpr int kRestarts = 100;
  for (int i = 0; i < kRestarts; ++i) {
    options.precondition =
        preconditioner(groups, linear(groups, found.x.head(count), found.x.tail(outputs).transpose()));
    found = minimise(f, std::move(found.x), options);
    if (found.converged && (found.iterations == 0 || problem_.loss->curvature() == 1)) break;
    found.converged = false;
  }
  Vector gradient(found.x.size());
  SubsetFit out;
  out.groups = groups;
  out.objective = f(found.x, gradient);
  out.loss = evaluation.loss;
  out.residual = std::move(evaluation.residual);
  out.values = found.x.head(count);
  out.intercept = found.x.tail(outputs).transpose();
  out.converged = found.converged;
  const bool ran_away = linear(groups, out.values, out.intercept).cwiseAbs().maxCoeff() > 40;
  if (problem_.loss->may_diverge() && problem_.ridge == 0 && (ran_away || !found.converged)) {
    throw Error("the selected groups separate the classes, so that no minimiser exists: add ridge (1e-3)");
  }
  return out;
}

Matrix Subsets::gradient(const SubsetFit& fit) const {
  const Matrix v = fit.residual.array().colwise() * weights_.array();
  Matrix out(x_.cols(), v.cols());
  x_.transpose_times(v, v.colwise().sum(), out);
  for (Index j = 0; j < out.rows(); ++j) {
    if (!varies_[j]) out.row(j).setZero();
  }
  if (problem_.ridge == 0) return out;
  Index at = 0;
  for (const Index g : fit.groups) {
    for (const Part& part : problem_.groups.parts(g)) {
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) out(j, part.first_output + k) -= problem_.ridge * fit.values[at++];
      }
    }
  }
  return out;
}

const Block& Subsets::block(Index group) {
  probe_.include({group});
  return probe_.block(group);
}

Solution Subsets::solution(const SubsetFit& fit) const {
  Solution out;
  out.loss = fit.loss;
  out.objective = fit.objective;
  out.converged = fit.converged;
  out.intercept = fit.intercept;
  std::vector<std::pair<Index, Index>> order;  // group, where its values start
  Index at = 0;
  for (const Index g : fit.groups) {
    order.emplace_back(g, at);
    at += problem_.groups.size(g);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [g, start] : order) {
    out.support.push_back(g);
    Index from = start;
    for (const Part& part : problem_.groups.parts(g)) {
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) {
          out.intercept[part.first_output + k] -= x_.mean()[j] * fit.values[from];
          out.values.push_back(scale_[j] * fit.values[from++]);
        }
      }
    }
  }
  return out;
}

}  // namespace hewn::convex
