#include "hewn/convex/fit/point.h"

#include <Eigen/Cholesky>
#include <cmath>

namespace hewn::convex {

void update_residual(State& state) {
  const Fixed& fixed = state.fixed;
  Point& point = state.point;
  point.loss = fixed.problem.loss->value(point.eta, fixed.problem.y, fixed.weights, point.residual);
  point.v = point.residual.array().colwise() * fixed.weights.array();
  ++state.version;
}

void move_predictor(State& state, const Centred& x, const Vector& old,
                    const Eigen::RowVectorXd& intercept_step, double share) {
  const Groups& groups = state.fixed.problem.groups;
  Point& point = state.point;
  std::vector<int> features;
  std::vector<Index> row_of(to_size(x.cols()), -1);
  for (const Index g : state.working.groups) {
    if (values_of(state, g) == old.segment(groups.start(g), groups.size(g))) continue;
    for (const Part& part : groups.parts(g)) {
      for (const int j : part.features) {
        if (row_of[to_size(j)] >= 0) continue;
        row_of[to_size(j)] = to_index(features.size());
        features.push_back(j);
      }
    }
  }
  Matrix delta = Matrix::Zero(to_index(features.size()), point.eta.cols());
  for (const Index g : state.working.groups) {
    for (const Part& part : groups.parts(g)) {
      Index at = groups.start(g) + part.offset;
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) {
          if (row_of[to_size(j)] >= 0)
            delta(row_of[to_size(j)], part.first_output + k) = share * (point.beta[at] - old[at]);
          ++at;
        }
      }
    }
  }
  x.add_times(features, delta, point.eta);
  point.eta.rowwise() += share * intercept_step;
  point.intercept += share * intercept_step;
  for (std::size_t i = 0; i < features.size(); ++i)
    point.intercept -= x.mean()[features[i]] * delta.row(to_index(i));
}

void fit_intercept(State& state) {
  const Problem& problem = state.fixed.problem;
  Point& point = state.point;
  for (int i = 0; i < 100; ++i) {
    const Eigen::RowVectorXd pull = point.v.colwise().sum();
    if (pull.norm() <= 1e-15 * point.v.cwiseAbs().sum()) break;
    Matrix hessian = problem.loss->hessian_sum(point.eta, problem.y, state.fixed.weights);
    const double size = hessian.trace() / static_cast<double>(hessian.rows());
    // Classes: a constant for all of them changes nothing, and nothing pulls there.
    if (hessian.rows() > 1 && problem.loss->curvature() != 1)
      hessian.array() += size / static_cast<double>(hessian.rows());
    hessian.diagonal().array() += 1e-12 * size;
    const Eigen::RowVectorXd step = hessian.ldlt().solve(pull.transpose()).transpose();
    const double before = point.loss;
    const Matrix old_eta = point.eta;
    double share = 1;
    for (int halvings = 0; halvings < 20; ++halvings, share /= 2) {
      point.eta = old_eta.rowwise() + share * step;
      update_residual(state);
      if (point.loss <= before + 1e-15 * std::abs(before)) break;
    }
    point.intercept += share * step;
    if (point.v.colwise().sum().norm() >= 0.5 * pull.norm()) break;  // as near as rounding allows
  }
}

double smooth_objective(const State& state) {
  return state.point.loss + 0.5 * state.fixed.problem.ridge * state.point.beta.squaredNorm();
}

double objective(const State& state, double lambda) {
  const Groups& groups = state.fixed.problem.groups;
  const double smooth = smooth_objective(state);
  if (lambda == 0) return smooth;
  if (state.fixed.penalty.singles() > 0) {
    double sum = 0;
    for (const Index g : state.working.groups)
      sum += state.fixed.penalty.of_group(groups, g, lambda).value(values_of(state, g));
    return smooth + sum;
  }
  Vector norms = Vector::Zero(groups.count());
  for (const Index g : state.working.groups) norms[g] = values_of(state, g).norm();
  return smooth + lambda * state.fixed.penalty.value(norms, groups.weights());
}

}  // namespace hewn::convex
