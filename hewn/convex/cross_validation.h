#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hewn/convex/greedy.h"
#include "hewn/convex/measure.h"
#include "hewn/convex/path.h"

namespace hewn::convex {

struct CrossValidationOptions {
  int folds = 5;
  uint64_t seed = 0;
  /// Folds solved at the same time.
  int threads = 1;
  Measure measure = Measure::kLoss;
  /// Fold of each sample, from 0 to folds - 1; empty: by the seed, every class spread over all folds.
  std::vector<int> fold_of;
};

/// Mean of the measure on samples left out, for each lambda of a path or each size of a set.
struct CrossValidation {
  Measure measure = Measure::kLoss;
  std::vector<double> mean;
  std::vector<double> error;  // standard error over folds
  std::size_t best = 0;       // least mean, or largest where larger is better
  std::size_t one_se = 0;     // largest lambda, or smallest set, within one standard error of the best
};

/// Solves the lambdas of `path` once per fold with that fold's samples left out (at weight 0, so that the
/// design is shared), and measures the loss there.
CrossValidation cross_validate(const Problem& problem, const Penalty& penalty, const Options& options,
                               const Path& path, const CrossValidationOptions& cv);

/// The same for group OMP: entry i is the set of i groups, up to options.k.
CrossValidation cross_validate_omp(const Problem& problem, const GreedyOptions& options,
                                   const CrossValidationOptions& cv);

/// The same for methods that start anew for every size: `pick` gives the solution with that many groups.
CrossValidation cross_validate_sizes(const Problem& problem, Index most,
                                     const std::function<Solution(const Problem&, Index size)>& pick,
                                     const CrossValidationOptions& cv);

}  // namespace hewn::convex
