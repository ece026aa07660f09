#include <algorithm>
#include <cmath>

#include "hewn/convex/fit/fitter.h"
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
PathOptions path_options(const Problem& problem, const SelectOptions& options, const Options& solver) {
  PathOptions path;
  path.count = options.path > 0 ? static_cast<int>(options.path) : 100;
  path.min_ratio = options.min_ratio;
  if (!options.lambda.empty()) {
    if (options.path > 0 || options.cv > 0) throw Error("lambda: cannot be given together with path or cv");
    const double tau = Fitter(problem, Penalty(), solver).tau();
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

/// What the chosen solution has, in the order of entering; the loss is that of the first solution with the
/// group in it.
void list_selected(Selection& out, Index most) {
  std::vector<bool> kept(to_size(out.problem.groups.count()), false);
  for (const Index g : out.solution.support) kept[to_size(g)] = out.problem.groups.weight(g) > 0;
  for (const Index g : out.path->entry_order) {
    if (!kept[to_size(g)]) continue;
    if (most > 0 && to_index(out.selected.size()) >= most) break;
    out.selected.push_back(g);
    for (const Solution& s : out.path->solutions) {
      if (!std::binary_search(s.support.begin(), s.support.end(), g)) continue;
      out.losses.push_back(s.loss);
      break;
    }
  }
}

}  // namespace

CrossValidationOptions cv_options(const SelectOptions& options) {
  return {static_cast<int>(options.cv), static_cast<uint64_t>(options.seed),
          static_cast<int>(std::max<int64_t>(1, options.threads))};
}

void follow_path(Selection& out, const ChosenMethod& chosen, const SelectOptions& options,
                 const Options& solver, const std::function<void(int, int)>& progress) {
  const Penalty penalty = penalty_of(chosen);
  PathOptions path = path_options(out.problem, options, solver);
  path.progress = progress;
  out.path = solve_path(out.problem, penalty, solver, path);
  out.chosen = out.path->solutions.size() - 1;
  if (options.cv > 0) {
    out.cv = cross_validate(out.problem, penalty, solver, *out.path, cv_options(options));
    out.chosen = out.cv->one_se;
  }
  out.solution = out.path->solutions[out.chosen];
  out.tau = out.path->tau;
  out.null_loss = out.path->null_objective;
  list_selected(out, options.k);
}

}  // namespace hewn::convex
