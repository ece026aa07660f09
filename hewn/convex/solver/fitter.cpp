#include "hewn/convex/solver/fitter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hewn/convex/solver/prepare.h"
#include "hewn/core/error.h"

namespace hewn::convex {
Fitter::Fitter(const Problem& problem, const Penalty& penalty, const Options& options)
    : problem_(problem),
      penalty_(penalty),
      options_(options),
      weights_(normalised_weights(problem)),
      scale_(column_scales(problem, weights_)),
      x_(*problem.x, scale_, weights_, problem.intercept),
      fixed_curvature_(options.curvature == Curvature::kFixed ||
                       (options.curvature == Curvature::kAuto && std::isfinite(problem.loss->curvature()))),
      model_(x_, problem.groups, weights_, fixed_curvature_ ? problem.loss->curvature() : 1, problem.ridge,
             options.mode != Mode::kResidual),
      probe_(x_, problem.groups, weights_, model_.factor(), problem.ridge, false),
      beta_(Vector::Zero(problem.groups.total())),
      intercept_(Eigen::RowVectorXd::Zero(problem.y.cols())),
      known_norm_(Vector::Zero(problem.groups.count())),
      known_at_(to_size(problem.groups.count()), -1),
      exact_at_(to_size(problem.groups.count()), -1),
      reach_(Vector::Zero(problem.groups.count())),
      in_working_(to_size(problem.groups.count()), false) {
  if (!std::isfinite(model_.factor())) throw Error("this loss has no curvature bound: it needs Newton steps");
  const Index n = x_.rows();
  const Index k = problem.y.cols();
  if (problem.intercept) intercept_ = problem.loss->start(weights_.transpose() * problem.y);
  eta_ = Matrix::Zero(n, k);
  if (problem.offset.size() != 0) eta_ = problem.offset;
  eta_.rowwise() += intercept_;
  gradient_.resize(x_.cols(), k);
  update_residual();
  if (problem.intercept) fit_intercept();
  full_gradient();
  Vector first;
  Vector spread;
  problem.x->moments(weights_, first, spread);
  if (!problem.intercept) spread += first.cwiseAbs2();
  for (Index g = 0; g < problem.groups.count(); ++g) {
    for (const Part& part : problem.groups.parts(g)) {
      for (const int j : part.features) reach_[g] += spread[j] * scale_[j] * scale_[j];
    }
  }
  reach_ = reach_.cwiseSqrt() * (1 + 1e-9);
  const double column =
      std::sqrt(((spread + first.cwiseAbs2()).array() * scale_.array().square()).maxCoeff());
  noise_ = 1e-14 * column *
           std::max(1e-200, std::sqrt((problem.y.array().square().colwise() * weights_.array()).sum()));
  for (Index g = 0; g < problem.groups.count(); ++g) {
    if (problem.groups.weight(g) > 0) continue;
    working_.push_back(g);
    in_working_[to_size(g)] = true;
  }
  if (!working_.empty()) {
    const double size = gradient_norms().maxCoeff();
    choose_mode(working_);
    fit_working(0, std::max(noise_, 1e-10 * size), options_.max_sweeps);
    if (problem.intercept) fit_intercept();
    full_gradient();
  }
  const Vector norms = gradient_norms();
  for (Index g = 0; g < problem.groups.count(); ++g) {
    if (problem.groups.weight(g) == 0 || norms[g] <= tau_ * problem.groups.weight(g)) continue;
    tau_ = norms[g] / problem.groups.weight(g);
    first_group_ = g;
  }
  if (tau_ <= noise_) tau_ = 0;
  gradient_lambda_ = tau_;
  null_objective_ = smooth_objective();
}

void Fitter::start_from(const Vector& beta) {
  const Vector old = beta_;
  beta_ = beta;
  std::vector<Index> fresh;
  for (Index g = 0; g < problem_.groups.count(); ++g) {
    if (in_working_[to_size(g)] || values(g).squaredNorm() == 0) continue;
    fresh.push_back(g);
    in_working_[to_size(g)] = true;
  }
  choose_mode(fresh);
  working_.insert(working_.end(), fresh.begin(), fresh.end());
  move(x_, old, Eigen::RowVectorXd::Zero(eta_.cols()), 1);
  update_residual();
  if (problem_.intercept) fit_intercept();
  full_gradient();
}

void Fitter::update_residual() {
  loss_ = problem_.loss->value(eta_, problem_.y, weights_, residual_);
  v_ = residual_.array().colwise() * weights_.array();
  ++version_;
}

/// In Gram mode until the inner products cost more than they save, or more memory than allowed.
void Fitter::choose_mode(const std::vector<Index>& entering) {
  if (model_.gram_mode() && options_.mode == Mode::kAuto) {
    Index slots = model_.slots();
    for (const Index g : entering) {
      for (const Part& part : problem_.groups.parts(g)) slots += to_index(part.features.size());
    }
    slots = std::min(slots, x_.cols());
    const Index useful = x_.rows() * (eta_.cols() > 2 ? 2 : 1);
    const Index capacity = 2 * slots;  // as the matrix grows
    if (slots > useful || capacity * capacity * Index{8} > options_.gram_bytes) model_.leave_gram_mode();
  }
  if (fixed_curvature_) model_.include(entering);
}

double Fitter::smooth_objective() const { return loss_ + 0.5 * problem_.ridge * beta_.squaredNorm(); }

double Fitter::penalty_value(double lambda) const {
  return lambda == 0 ? 0 : lambda * penalty_.value(beta_norms(), problem_.groups.weights());
}

Vector Fitter::beta_norms() const {
  Vector out = Vector::Zero(problem_.groups.count());
  for (const Index g : working_) out[g] = values(g).norm();
  return out;
}

double Fitter::lower_bound(double lambda) const {
  // Groups whose gradient was not computed are known to stay below lambda times weight, where they count
  // nothing.
  Vector correlation =
      problem_.ridge == 0
          ? problem_.groups.norms(gradient_)
          : problem_.groups.norms(Matrix(gradient_ + problem_.ridge * problem_.groups.spread(beta_)));
  for (Index g = 0; g < correlation.size(); ++g) {
    if (exact_at_[to_size(g)] != version_) correlation[g] = 0;
  }
  return dual_bound(problem_, weights_, residual_, correlation, lambda);
}

void Fitter::move(const Centred& x, const Vector& old, const Eigen::RowVectorXd& intercept_step,
                  double share) {
  std::vector<int> features;
  std::vector<Index> row_of(to_size(x.cols()), -1);
  for (const Index g : working_) {
    if (values(g) == old.segment(problem_.groups.start(g), problem_.groups.size(g))) continue;
    for (const Part& part : problem_.groups.parts(g)) {
      for (const int j : part.features) {
        if (row_of[to_size(j)] >= 0) continue;
        row_of[to_size(j)] = to_index(features.size());
        features.push_back(j);
      }
    }
  }
  Matrix delta = Matrix::Zero(to_index(features.size()), eta_.cols());
  for (const Index g : working_) {
    for (const Part& part : problem_.groups.parts(g)) {
      Index at = problem_.groups.start(g) + part.offset;
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) {
          if (row_of[to_size(j)] >= 0)
            delta(row_of[to_size(j)], part.first_output + k) = share * (beta_[at] - old[at]);
          ++at;
        }
      }
    }
  }
  x.add_times(features, delta, eta_);
  eta_.rowwise() += share * intercept_step;
  intercept_ += share * intercept_step;
  for (std::size_t i = 0; i < features.size(); ++i)
    intercept_ -= x.mean()[features[i]] * delta.row(to_index(i));
}

Solution Fitter::fit(double lambda) {
  if (!(lambda >= 0) || std::isinf(lambda))
    throw Error(str("lambda: expected a number of at least 0, got ", lambda));
  const double tolerance = std::max(noise_, options_.tolerance * (lambda > 0 ? lambda : 1e-6 * tau_));
  std::vector<Index> all(to_size(problem_.groups.count()));
  std::iota(all.begin(), all.end(), Index{0});
  const bool screened = options_.screen && penalty_.is_group_lasso();
  const std::vector<Index> strong = screened ? strong_set(lambda) : all;
  add_violators(strong, lambda, tolerance);
  int sweeps = 0;
  double share =
      model_.gram_mode() && problem_.loss->curvature() == 1
          ? 0.95
          : 0.5;  // sweeps that use residuals stop by what they met on the way, which may not be enough
  while (true) {
    sweeps += fit_working(lambda, share * tolerance, options_.max_sweeps - sweeps);
    if (problem_.intercept && problem_.loss->may_diverge()) fit_intercept();
    if (screened && strong.size() < all.size() / 2) {
      gradient_of_zero_groups(strong);
      if (sweeps < options_.max_sweeps && add_violators(strong, lambda, tolerance)) continue;
    }
    gradient_where_needed(lambda);
    if (sweeps >= options_.max_sweeps) break;
    if (add_violators(all, lambda, tolerance)) continue;
    double worst = 0;
    for (const Index g : working_) worst = std::max(worst, violation_of(g, lambda));
    if (worst <= tolerance) break;
    share = std::max(1e-3, share / 2);
    ++sweeps;  // rounding alone must not keep this going
  }
  gradient_lambda_ = lambda;
  return report(lambda, sweeps, tolerance);
}

Solution Fitter::report(double lambda, int sweeps, double tolerance) const {
  Solution out;
  out.lambda = lambda;
  out.sweeps = sweeps;
  out.loss = loss_;
  out.objective = smooth_objective() + penalty_value(lambda);
  out.intercept = intercept_;
  std::vector<Index> order = working_;
  std::sort(order.begin(), order.end());
  for (const Index g : order) {
    if (values(g).squaredNorm() == 0) continue;
    out.support.push_back(g);
    for (const Part& part : problem_.groups.parts(g)) {
      Index at = problem_.groups.start(g) + part.offset;
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) out.values.push_back(beta_[at++] * scale_[j]);
      }
    }
  }
  double worst = 0;
  for (Index g = 0; g < problem_.groups.count(); ++g) worst = std::max(worst, violation_of(g, lambda));
  out.converged = worst <= tolerance;
  Certificate& certificate = out.certificate;
  certificate.kkt = lambda > 0 ? worst / lambda : worst;
  const bool bounded = penalty_.is_group_lasso() || penalty_.form() == Form::kComposed;
  certificate.gap =
      bounded ? std::max(0.0, out.objective - lower_bound(lambda)) : std::numeric_limits<double>::infinity();
  certificate.verdict = !out.converged ? Verdict::kNone
                        : certificate.gap <= kCertifiedGap * std::abs(null_objective_) || tau_ == 0
                            ? Verdict::kCertified
                            : Verdict::kStationary;
  return out;
}

}  // namespace hewn::convex
