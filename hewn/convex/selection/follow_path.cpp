#include <algorithm>
#include <cmath>

#include "hewn/convex/criterion.h"
#include "hewn/convex/fit/composed.h"
#include "hewn/convex/selection/ways.h"
#include "hewn/core/error.h"
#include "hewn/core/options.h"

namespace hewn::convex {
namespace {

double parse_lambda(const std::string& text, double tau) {
  const bool share = text.ends_with("tau");
  double value = 1;
  if (text != "tau") parse_value("lambda", share ? text.substr(0, text.size() - 3) : text, value);
  if (!(value >= 0) || std::isinf(value))
    throw Error(str("lambda: expected a number of at least 0, got \"", text, "\""));
  return share ? value * tau : value;
}

/// The lambdas to solve at.
PathOptions path_options(const Problem& problem, const Penalty& penalty, const SelectOptions& options,
                         const Options& solver) {
  PathOptions path;
  path.count = options.path > 0 ? static_cast<int>(options.path) : 100;
  path.min_ratio = options.min_ratio;
  if (!options.lambda.empty()) {
    const double tau = Follower(problem, penalty, solver).tau();
    const double lambda = parse_lambda(options.lambda, tau);
    // Some lambdas on the way show the order of entering and make each solution easy.
    constexpr int kSteps = 20;
    for (int i = 0; i < kSteps && lambda < tau && lambda > 0; ++i) {
      path.lambdas.push_back(tau * std::pow(lambda / tau, static_cast<double>(i) / kSteps));
    }
    path.lambdas.push_back(lambda);
  } else if (options.k > 0 && options.cv == 0) {
    path.max_groups = options.k;
    if (options.path == 0) path.min_ratio = std::min(path.min_ratio, 1e-3);
  }
  return path;
}

/// The first k of the chosen solution's groups: in the order of entering, or by size where nothing ever
/// becomes zero and all enter at once.
std::vector<Index> first_groups(const Selection& found, const Penalty& penalty, Index k) {
  const Groups& groups = found.problem.groups;
  std::vector<Index> order = found.path->entry_order;
  std::vector<double> norm(to_size(groups.count()), -1);
  Index at = 0;
  for (const Index g : found.solution.support) {
    norm[to_size(g)] = Eigen::Map<const Vector>(found.solution.values.data() + at, groups.size(g)).norm();
    at += groups.size(g);
  }
  std::erase_if(order, [&](Index g) { return norm[to_size(g)] < 0 || groups.weight(g) == 0; });
  if (penalty.scalar().slope_at_zero() == 0) {
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return norm[to_size(a)] > norm[to_size(b)]; });
  }
  if (k > 0 && to_index(order.size()) > k) order.resize(to_size(k));
  return order;
}

/// What the chosen solution has; the loss is that of the first solution with the group in it.
void list_selected(Selection& out, const Penalty& penalty, const SelectOptions& options, Options solver) {
  const Groups& groups = out.problem.groups;
  out.selected = first_groups(out, penalty, options.k);
  const auto count = std::count_if(out.solution.support.begin(), out.solution.support.end(),
                                   [&](Index g) { return groups.weight(g) > 0; });
  if (count > to_index(out.selected.size())) {  // more than k are in: the first k alone, at the same lambda
    for (Index g = 0; g < groups.count(); ++g) {
      const bool chosen = std::find(out.selected.begin(), out.selected.end(), g) != out.selected.end();
      if (chosen || groups.weight(g) == 0) solver.only.push_back(g);
    }
    out.solution = solve(out.problem, penalty, out.solution.lambda, solver);
  }
  for (const Index g : out.selected) {
    double loss = out.solution.loss;
    for (const Solution& s : out.path->solutions) {
      if (!std::binary_search(s.support.begin(), s.support.end(), g)) continue;
      loss = s.loss;
      break;
    }
    out.losses.push_back(loss);
  }
}

}  // namespace

double natural_unit(const Problem& problem, const Options& solver) {
  Fitter fitter(problem, Penalty(), solver);
  if (fitter.tau() == 0) return 1;
  const Groups& groups = problem.groups;
  const Index g = fitter.first_group();
  const Centred x(*problem.x, fitter.scale(), fitter.weights(), problem.intercept);
  double curvature = problem.ridge;
  for (const Part& part : groups.parts(g)) {
    for (const int j : part.features) {
      Matrix own(1, 1);
      x.gram(Features(&j, 1), Features(&j, 1), own);
      curvature += own(0, 0);
    }
  }
  const double unit = groups.weight(g) * groups.weight(g) * fitter.tau() / curvature;
  return std::isfinite(unit) && unit > 0 ? unit : 1;
}

CrossValidationOptions cv_options(const SelectOptions& options, const Loss& loss) {
  CrossValidationOptions out;
  out.folds = static_cast<int>(options.cv);
  out.seed = static_cast<uint64_t>(options.seed);
  out.threads = static_cast<int>(std::max<int64_t>(1, options.threads));
  out.measure = find_measure(options.measure, loss);
  out.fold_of = options.folds;
  return out;
}

std::size_t chosen_by(const CrossValidation& cv, const SelectOptions& options) {
  return options.cv_rule == "min" ? cv.best : cv.one_se;
}

void follow_path(Selection& out, const ChosenMethod& chosen, const SelectOptions& options,
                 const Options& solver, const std::function<void(int, int)>& progress) {
  out.unit = takes_unit(chosen) ? options.unit ? *options.unit : natural_unit(out.problem, solver) : 1;
  const Penalty penalty = penalty_of(chosen, out.unit, options.singles);
  PathOptions path = path_options(out.problem, penalty, options, solver);
  path.progress = progress;
  out.path = solve_path(out.problem, penalty, solver, path);
  out.chosen = out.path->solutions.size() - 1;
  if (options.cv > 0) {
    out.cv = cross_validate(out.problem, penalty, solver, *out.path, cv_options(options, *out.problem.loss));
    out.chosen = chosen_by(*out.cv, options);
  } else if (!options.criterion.empty()) {
    const Criterion criterion = find_criterion(options.criterion);
    for (const Solution& s : out.path->solutions)
      out.criterion.push_back(criterion_of(criterion, out.problem, s));
    out.chosen =
        to_size(std::min_element(out.criterion.begin(), out.criterion.end()) - out.criterion.begin());
  }
  out.solution = out.path->solutions[out.chosen];
  out.tau = out.path->tau;
  out.null_loss = out.path->null_objective;
  list_selected(out, penalty, options, solver);
}

}  // namespace hewn::convex
