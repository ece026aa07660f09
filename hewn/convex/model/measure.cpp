#include "hewn/convex/measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hewn/convex/loss/entropy.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

bool is_loss(const Loss& loss, const char* name) { return &loss == &find_loss(name); }

double accuracy_of(const Matrix& eta, const Matrix& y, const Vector& weights) {
  double out = 0;
  for (Index i = 0; i < eta.rows(); ++i) {
    Index guess = eta(i, 0) > 0 ? 1 : 0;
    if (eta.cols() > 1) eta.row(i).maxCoeff(&guess);
    if (guess == class_of(y, i)) out += weights[i];
  }
  return out;
}

/// Ties count half.
double auc_of(const Matrix& eta, const Matrix& y, const Vector& weights) {
  std::vector<Index> order(to_size(eta.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return eta(a, 0) < eta(b, 0); });
  double below = 0;  // weight of the first class so far
  double above = 0;  // of the second
  double pairs = 0;
  for (std::size_t i = 0; i < order.size();) {
    double first = 0;
    double second = 0;
    std::size_t end = i;
    for (; end < order.size() && eta(order[end], 0) == eta(order[i], 0); ++end)
      (y(order[end], 0) > 0.5 ? second : first) += weights[order[end]];
    pairs += second * (below + 0.5 * first);
    below += first;
    above += second;
    i = end;
  }
  return below > 0 && above > 0 ? pairs / (below * above) : 0.5;
}

}  // namespace

bool has_classes(const Loss& loss) { return is_loss(loss, "multinomial") || is_loss(loss, "binomial"); }

Index class_of(const Matrix& y, Index row) {
  if (y.cols() == 1) return y(row, 0) > 0.5 ? 1 : 0;
  Index out = 0;
  y.row(row).maxCoeff(&out);
  return out;
}

Measure find_measure(const std::string& name, const Loss& loss) {
  if (name == "loss") return Measure::kLoss;
  if (name == "deviance") return Measure::kDeviance;
  if (name != "accuracy" && name != "auc") {
    throw Error(str("measure: expected loss, deviance, accuracy or auc, got \"", name, "\""));
  }
  if (name == "auc" && !is_loss(loss, "binomial")) throw Error("measure: auc needs task binomial");
  if (!has_classes(loss)) throw Error("measure: accuracy needs classes (task binomial or multinomial)");
  return name == "auc" ? Measure::kAuc : Measure::kAccuracy;
}

double measure(Measure measure, const Loss& loss, const Matrix& eta, const Matrix& y, const Vector& weights) {
  if (measure == Measure::kAccuracy) return accuracy_of(eta, y, weights);
  if (measure == Measure::kAuc) return auc_of(eta, y, weights);
  Matrix residual;
  const double value = loss.value(eta, y, weights, residual);
  if (measure == Measure::kLoss) return value;
  double saturated = 0;
  if (is_loss(loss, "poisson")) {
    for (Index i = 0; i < y.rows(); ++i) saturated += weights[i] * (y(i, 0) - x_log_x(y(i, 0)));
  }
  return 2 * (value - saturated);
}

double variance_explained(const Matrix& predicted, const Matrix& y, const Vector& weights) {
  const Eigen::RowVectorXd mean = weights.transpose() * y;
  const double total = ((y.rowwise() - mean).array().square().colwise() * weights.array()).sum();
  const double rest = ((y - predicted).array().square().colwise() * weights.array()).sum();
  return total > 0 ? 1 - rest / total : 0;
}

double concordance(const Matrix& eta, const Matrix& y, const Vector& weights) {
  double right = 0;
  double all = 0;
  for (Index i = 0; i < y.rows(); ++i) {
    if (!(y(i, 0) > 0) || weights[i] == 0) continue;
    for (Index j = 0; j < y.rows(); ++j) {
      if (!(std::abs(y(j, 0)) > y(i, 0))) continue;
      const double pair = weights[i] * weights[j];
      all += pair;
      right += eta(i, 0) > eta(j, 0) ? pair : eta(i, 0) == eta(j, 0) ? 0.5 * pair : 0;
    }
  }
  return all > 0 ? right / all : 0.5;
}

Matrix linear_predictor(const Problem& problem, const Matrix& coefficients,
                        const Eigen::RowVectorXd& intercept) {
  std::vector<int> features;
  for (Index j = 0; j < coefficients.rows(); ++j) {
    if ((coefficients.row(j).array() != 0).any()) features.push_back(static_cast<int>(j));
  }
  Matrix kept(to_index(features.size()), coefficients.cols());
  for (std::size_t i = 0; i < features.size(); ++i) kept.row(to_index(i)) = coefficients.row(features[i]);
  Matrix eta =
      problem.offset.size() != 0 ? problem.offset : Matrix::Zero(problem.x->rows(), problem.y.cols());
  problem.x->add_times(features, kept, eta);
  eta.rowwise() += intercept;
  return eta;
}

}  // namespace hewn::convex
