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

namespace {

Index penalised_count(const Groups& groups, const Solution& solution) {
  return std::count_if(solution.support.begin(), solution.support.end(),
                       [&](Index g) { return groups.weight(g) > 0; });
}

/// Follows a path and notes which groups enter when.
class Walk {
 public:
  Walk(const Problem& problem, const Penalty& penalty, const Options& options)
      : groups_(problem.groups),
        follower_(problem, penalty, options),
        seen_(to_size(groups_.count()), false) {
    out.tau = follower_.tau();
    out.first_group = follower_.fitter().first_group();
    out.null_objective = follower_.fitter().null_objective();
  }

  Solution fit(double lambda) { return follower_.fit(lambda); }

  void keep(Solution solution) {
    std::vector<std::pair<double, Index>> entering;
    Index at = 0;
    for (const Index g : solution.support) {
      const Index size = groups_.size(g);
      if (!seen_[to_size(g)])
        entering.emplace_back(-Eigen::Map<const Vector>(solution.values.data() + at, size).norm(), g);
      seen_[to_size(g)] = true;
      at += size;
    }
    std::sort(entering.begin(), entering.end());
    for (const auto& [norm, g] : entering) out.entry_order.push_back(g);
    out.solutions.push_back(std::move(solution));
  }

  /// Between the last kept lambda and one at which too many groups are in: as many as may be.
  void close_in(double too_low, Index most) {
    for (int i = 0; i < 40; ++i) {
      const double last = out.solutions.back().lambda;
      if (penalised_count(groups_, out.solutions.back()) == most || last <= too_low * (1 + 1e-9)) return;
      const double middle = std::sqrt(last) * std::sqrt(too_low);
      Solution solution = fit(middle);
      if (penalised_count(groups_, solution) <= most) {
        keep(std::move(solution));
      } else {
        too_low = middle;
      }
    }
  }

  Path out;

 private:
  const Groups& groups_;
  Follower follower_;
  std::vector<bool> seen_;
};

}  // namespace

Path solve_path(const Problem& problem, const Penalty& penalty, const Options& options,
                const PathOptions& path) {
  Walk walk(problem, penalty, options);
  const std::vector<double> lambdas = spaced(walk.out.tau, path);
  for (std::size_t i = 0; i < lambdas.size(); ++i) {
    if (i > 0 && lambdas[i] > lambdas[i - 1]) throw Error("path: expected descending lambdas");
    Solution solution = walk.fit(lambdas[i]);
    if (path.progress) path.progress(static_cast<int>(i) + 1, static_cast<int>(lambdas.size()));
    const Index count = penalised_count(problem.groups, solution);
    if (path.max_groups > 0 && count > path.max_groups && i > 0) {
      walk.close_in(lambdas[i], path.max_groups);
      break;
    }
    walk.keep(std::move(solution));
    if (path.max_groups > 0 && count >= path.max_groups) break;
  }
  return std::move(walk.out);
}

Solution solve(const Problem& problem, const Penalty& penalty, double lambda, const Options& options) {
  Follower follower(problem, penalty, options);
  return follower.fit(lambda);
}

}  // namespace hewn::convex
