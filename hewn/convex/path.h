#pragma once

#include <functional>
#include <vector>

#include "hewn/convex/solver/solution.h"

namespace hewn::convex {

struct PathOptions {
  /// Number of lambdas, evenly spaced in their logarithm from tau down.
  int count = 100;
  /// The last lambda as a share of tau.
  double min_ratio = 0.01;
  /// These lambdas instead, descending.
  std::vector<double> lambdas;
  /// Stop once so many penalised groups are selected, and look between two lambdas where one has fewer and
  /// the next has more; 0: never.
  Index max_groups = 0;
  /// Called after each lambda with its number and how many there will be.
  std::function<void(int, int)> progress;
};

struct Path {
  double tau = 0;  // the least lambda at which the penalty selects nothing
  Index first_group = 0;
  double null_objective = 0;
  std::vector<Solution> solutions;
  /// Groups in the order in which they first became non-zero, at the same lambda the largest first.
  std::vector<Index> entry_order;
};

/// Solves for a falling sequence of lambdas, each from the last.
Path solve_path(const Problem& problem, const Penalty& penalty, const Options& options,
                const PathOptions& path);

/// One lambda. Composed penalties are compared with the group-LASSO solution, which bounds them.
Solution solve(const Problem& problem, const Penalty& penalty, double lambda, const Options& options);

}  // namespace hewn::convex
