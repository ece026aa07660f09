#include "hewn/convex/path.h"

#include <algorithm>
#include <cmath>

#include "hewn/convex/fit/composed.h"
#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

std::vector<double> spaced(double tau, const PathOptions& path) {
  if (!path.lambdas.empty()) return path.lambdas;
  if (path.count < 1) throw Error(str("path: expected at least one lambda, got ", path.count));
  if (!(path.min_ratio > 0 && path.min_ratio < 1)) {
    throw Error(str("min-ratio: expected a number between 0 and 1, got ", path.min_ratio));
  }
  if (tau == 0) return {0};
  std::vector<double> out;
  for (int i = 0; i < path.count; ++i) {
    const double share = path.count == 1 ? 0 : static_cast<double>(i) / (path.count - 1);
    out.push_back(tau * std::pow(path.min_ratio, share));
  }
  return out;
}

}  // namespace

Path solve_path(const Problem& problem, const Penalty& penalty, const Options& options,
                const PathOptions& path) {
  Follower follower(problem, penalty, options);
  Path out;
  out.tau = follower.fitter().tau();
  out.first_group = follower.fitter().first_group();
  out.null_objective = follower.fitter().null_objective();
  const std::vector<double> lambdas = spaced(out.tau, path);
  std::vector<bool> seen(to_size(problem.groups.count()), false);
  for (std::size_t i = 0; i < lambdas.size(); ++i) {
    if (i > 0 && lambdas[i] > lambdas[i - 1]) throw Error("path: expected descending lambdas");
    out.solutions.push_back(follower.fit(lambdas[i]));
    const Solution& solution = out.solutions.back();
    std::vector<std::pair<double, Index>> entering;
    Index at = 0;
    for (const Index g : solution.support) {
      const Index size = problem.groups.size(g);
      if (!seen[to_size(g)])
        entering.emplace_back(-Eigen::Map<const Vector>(solution.values.data() + at, size).norm(), g);
      seen[to_size(g)] = true;
      at += size;
    }
    std::sort(entering.begin(), entering.end());
    for (const auto& [norm, g] : entering) out.entry_order.push_back(g);
    if (path.progress) path.progress(static_cast<int>(i) + 1, static_cast<int>(lambdas.size()));
    if (path.max_groups > 0 && to_index(solution.support.size()) >= path.max_groups) break;
  }
  return out;
}

Solution solve(const Problem& problem, const Penalty& penalty, double lambda, const Options& options) {
  Follower follower(problem, penalty, options);
  return follower.fit(lambda);
}

}  // namespace hewn::convex
