#include "hewn/convex/criterion.h"

#include <algorithm>
#include <cmath>

#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

}  // namespace

Criterion find_criterion(const std::string& name) {
  if (name == "aic") return Criterion::kAic;
  if (name == "bic") return Criterion::kBic;
  if (name == "ebic") return Criterion::kEbic;
  if (name == "gic") return Criterion::kGic;
  throw Error(str("criterion: expected aic, bic, ebic or gic, got \"", name, "\""));
}

double criterion_of(Criterion criterion, const Problem& problem, const Solution& solution) {
  const auto n = static_cast<double>(
      problem.sample_weight.size() == 0 ? problem.x->rows() : (problem.sample_weight.array() > 0).count());
  const auto outputs = static_cast<double>(problem.y.cols());
  double groups = 0;
  for (Index g = 0; g < problem.groups.count(); ++g) groups += problem.groups.weight(g) > 0 ? 1 : 0;
  double coefficients = problem.intercept ? outputs : 0;
  double chosen = 0;
  // Single coefficients of a chosen group may be zero.
  for (const double value : solution.values) coefficients += value != 0 ? 1 : 0;
  for (const Index g : solution.support) {
    chosen += problem.groups.weight(g) > 0 ? 1 : 0;
  }
  const bool gaussian = problem.loss == &find_loss("gaussian");
  // A fit without any rest would be infinitely good.
  const double floor = 1e-30 * std::max(1e-200, problem.y.squaredNorm() / n);
  const double fit =
      gaussian ? n * outputs * std::log(std::max(floor, 2 * solution.loss / outputs)) : 2 * n * solution.loss;
  switch (criterion) {
    case Criterion::kAic:
      return fit + 2 * coefficients;
    case Criterion::kBic:
      return fit + coefficients * std::log(n);
    case Criterion::kEbic:
      return fit + coefficients * std::log(n) + 2 * log_choose(groups, chosen);
    default:
      return fit + coefficients * std::log(std::max(2.0, groups)) * std::log(std::max(1.0, std::log(n)));
  }
}

}  // namespace hewn::convex
