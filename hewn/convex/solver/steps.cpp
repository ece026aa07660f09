// How a fit moves on its working set: one majorised quadratic for ever, or a new one at each step.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "hewn/convex/solver/anderson.h"
#include "hewn/convex/solver/descent.h"
#include "hewn/convex/solver/fitter.h"

namespace hewn::convex {

int Fitter::fit_working(double lambda, double tolerance, int max_sweeps) {
  if (problem_.loss->curvature() == 1 && fixed_curvature_) {  // the quadratic is the loss itself
    const Vector old = beta_;
    const DescentResult result =
        descend(model_, penalty_, lambda, working_, v_, beta_, {tolerance, max_sweeps, options_.anderson});
    if (result.sweeps > 0) {
      move(x_, old, Eigen::RowVectorXd::Zero(eta_.cols()), 1);
      update_residual();
    }
    return result.sweeps;
  }
  return fixed_curvature_ ? majorise(lambda, tolerance, max_sweeps) : newton(lambda, tolerance, max_sweeps);
}

/// Minimises a quadratic upper bound with the same curvature everywhere, so that inner products and
/// eigenbases serve the whole path; extrapolates over these steps, and takes back what does not lower the
/// objective.
int Fitter::majorise(double lambda, double tolerance, int max_sweeps) {
  Anderson anderson(options_.anderson);
  int sweeps = 0;
  double violation = 0;
  while (sweeps < max_sweeps) {
    const Vector old = beta_;
    const double inner = std::max(0.3 * tolerance, 0.1 * violation);
    const DescentResult result =
        descend(model_, penalty_, lambda, working_, v_, beta_,
                {inner, std::min(kInnerSweeps, max_sweeps - sweeps), options_.anderson});
    const Eigen::RowVectorXd pull =
        problem_.intercept ? Eigen::RowVectorXd(v_.colwise().sum()) : Eigen::RowVectorXd::Zero(eta_.cols());
    violation = std::max(result.before, pull.norm());
    if (violation <= tolerance) {
      beta_ = old;
      break;
    }
    sweeps += std::max(1, result.sweeps);
    move(x_, old, pull / model_.factor(), 1);
    update_residual();
    Vector point(working_size() + intercept_.size());
    gather(point);
    const auto further = anderson.push(std::move(point), eta_);
    if (further) try_point(*further, lambda);
  }
  return sweeps;
}

void Fitter::try_point(const Anderson::Point& point, double lambda) {
  const double before = smooth_objective() + penalty_value(lambda);
  const Vector old_beta = beta_;
  const Eigen::RowVectorXd old_intercept = intercept_;
  const Matrix old_eta = eta_;
  const Matrix old_residual = residual_;
  const Matrix old_v = v_;
  const double old_loss = loss_;
  Index at = 0;
  for (const Index g : working_) {
    values(g) = point.x.segment(at, problem_.groups.size(g));
    at += problem_.groups.size(g);
  }
  intercept_ = point.x.tail(intercept_.size()).transpose();
  eta_ = point.carried;
  update_residual();
  if (smooth_objective() + penalty_value(lambda) < before) return;
  beta_ = old_beta;
  intercept_ = old_intercept;
  eta_ = old_eta;
  residual_ = old_residual;
  v_ = old_v;
  loss_ = old_loss;
}

Index Fitter::working_size() const {
  Index size = 0;
  for (const Index g : working_) size += problem_.groups.size(g);
  return size;
}

void Fitter::gather(Vector& point) const {
  Index at = 0;
  for (const Index g : working_) {
    point.segment(at, problem_.groups.size(g)) = values(g);
    at += problem_.groups.size(g);
  }
  point.tail(intercept_.size()) = intercept_.transpose();
}

/// Quadratics with the loss's own curvature, each solved and followed as far as the objective falls.
int Fitter::newton(double lambda, double tolerance, int max_sweeps) {
  int sweeps = 0;
  double violation = 0;
  while (sweeps < max_sweeps) {
    Vector curvature = weights_.cwiseProduct(problem_.loss->second_derivative(eta_, problem_.y));
    curvature =
        curvature.cwiseMax(1e-9 * curvature.maxCoeff() * (weights_.array() > 0).cast<double>().matrix());
    const Centred x(*problem_.x, scale_, curvature, problem_.intercept);
    Index features = 0;
    for (const Index g : working_) {
      for (const Part& part : problem_.groups.parts(g)) features += to_index(part.features.size());
    }
    Model model(x, problem_.groups, curvature, 1, problem_.ridge, features < kSmallModel);
    model.include(working_);
    const Vector old = beta_;
    const double inner = std::max(0.3 * tolerance, 0.05 * violation);
    const DescentResult result = descend(model, penalty_, lambda, working_, v_, beta_,
                                         {inner, max_sweeps - sweeps, options_.anderson});
    const Eigen::RowVectorXd pull =
        problem_.intercept ? Eigen::RowVectorXd(v_.colwise().sum()) : Eigen::RowVectorXd::Zero(eta_.cols());
    violation = std::max(result.before, pull.norm());
    if (violation <= tolerance) {
      beta_ = old;
      break;
    }
    sweeps += std::max(1, result.sweeps);
    if (!line_search(x, old, pull / curvature.sum(), lambda)) break;
  }
  return sweeps;
}

/// From `old` towards beta_; leaves the point with the lower objective. False where rounding stops it.
bool Fitter::line_search(const Centred& x, const Vector& old, const Eigen::RowVectorXd& intercept_step,
                         double lambda) {
  const Vector target = beta_;
  const Matrix old_eta = eta_;
  const Eigen::RowVectorXd old_intercept = intercept_;
  beta_ = old;
  const double before = smooth_objective() + penalty_value(lambda);
  double share = 1;
  for (int halvings = 0; halvings < 34; ++halvings, share /= 2) {
    beta_ = target;
    eta_ = old_eta;
    intercept_ = old_intercept;
    move(x, old, intercept_step, share);
    beta_ = old + share * (target - old);
    update_residual();
    const double after = smooth_objective() + penalty_value(lambda);
    // Near the minimum rounding hides progress; a whole Newton step is right there.
    if (after < before || (share == 1 && after <= before + 1e-14 * (1 + std::abs(before)))) return true;
  }
  beta_ = old;
  eta_ = old_eta;
  intercept_ = old_intercept;
  update_residual();
  return false;
}

/// Newton on the intercept alone, to rounding: the dual bound needs residuals that sum to zero.
void Fitter::fit_intercept() {
  for (int i = 0; i < 100; ++i) {
    const Eigen::RowVectorXd pull = v_.colwise().sum();
    if (pull.norm() <= 1e-15 * v_.cwiseAbs().sum()) break;
    Matrix hessian = problem_.loss->hessian_sum(eta_, problem_.y, weights_);
    const double size = hessian.trace() / static_cast<double>(hessian.rows());
    if (hessian.rows() > 1) hessian.array() += size / static_cast<double>(hessian.rows());
    hessian.diagonal().array() += 1e-12 * size;
    const Eigen::RowVectorXd step = hessian.ldlt().solve(pull.transpose()).transpose();
    const double before = loss_;
    const Matrix old_eta = eta_;
    double share = 1;
    for (int halvings = 0; halvings < 20; ++halvings, share /= 2) {
      eta_ = old_eta.rowwise() + share * step;
      update_residual();
      if (loss_ <= before + 1e-15 * std::abs(before)) break;
    }
    intercept_ += share * step;
    if (v_.colwise().sum().norm() >= 0.5 * pull.norm()) break;  // as near as rounding allows
  }
}

}  // namespace hewn::convex
