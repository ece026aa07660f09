#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hewn/convex/greedy.h"
#include "hewn/core/grid.h"

namespace hewn::convex {

/// The outputs of a trained layer as a least-squares problem in sums over samples. With inputs X and weights
/// W it asks for B, zero outside some blocks, that minimises
///   1/2 mean over samples ||x'W - x'B||^2 + ridge/2 ||B||^2.
struct LayerProblem {
  Matrix gram;    // X'X / n, p x p; of centred X where the bias takes up the mean
  Matrix weight;  // W, p x K
  Grid grid;      // its blocks
  double ridge = 0;
};

struct LayerOptions {
  /// omp, ompr, or magnitude: the blocks with the largest norm.
  std::string method = "omp";
  Index k = 1;
  /// What omp and ompr rank blocks by.
  Score score = Score::kCurvature;
  /// Kept blocks get the weights that fit best; otherwise they keep their own.
  bool refit = true;
  /// Swaps of ompr at most.
  int rounds = 100;
  std::function<void(int, int)> progress = {};
};

struct LayerChoice {
  std::vector<Index> blocks;   // in the order of choosing
  std::vector<double> losses;  // after each of them, without ridge
  double null_loss = 0;        // with no block
  int swaps = 0;               // of ompr
  Matrix weight;               // B
};

/// Chooses k blocks. Outputs of different block columns share only the budget: a step refits one column of
/// blocks, on the Gram alone. Throws Error for an unknown method or a k that does not fit.
LayerChoice choose_blocks(const LayerProblem& problem, const LayerOptions& options);

}  // namespace hewn::convex
