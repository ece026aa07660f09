#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "hewn/convex/solver/solution.h"

namespace hewn::convex {

enum class Score {
  kNorm,       // gradient norm over weight to enter, coefficient norm to leave
  kCurvature,  // what entering or leaving alone changes the objective by
};

struct GreedyOptions {
  /// Groups to select, not counting those of weight 0.
  Index k = 1;
  /// Group OMPR keeps so many groups; 0: k.
  Index kprime = 0;
  /// Groups that group OMPR begins with instead of those that omp gives, k or kprime of them; empty: none.
  std::vector<Index> start;
  /// Swaps of group OMPR at most.
  int rounds = 100;
  /// Group OMPR as Algorithm 2 writes it: swap in every round, end where the last one led. Otherwise stop at
  /// the first swap that does not lower the objective, and undo it.
  bool literal = false;
  Score score = Score::kNorm;
  /// omp and ompr: the group that this penalty lets in just below its tau enters, those in the set being
  /// free, instead of the one with the largest score.
  std::optional<Penalty> q;
  /// Sequential LASSO, and omp and ompr with a penalty, solve at (1 - epsilon) tau.
  double epsilon = 1e-3;
  /// Called by omp with the fit after each round.
  std::function<void(const Solution&)> on_solution;
  /// Called after each round with its number and how many there may be.
  std::function<void(int, int)> progress;
};

/// One group entered, or one left for it; rounds of iht name none.
struct GreedyRound {
  Index added = -1;
  Index removed = -1;
  double tau = 0;    // largest gradient norm over weight outside the set, before the round
  bool tie = false;  // the second-largest is the same within kTieTolerance
  double loss = 0;
  double objective = 0;
  Index largest = -1;  // the group with the largest score; another than the one added where a penalty chose
};

struct Greedy {
  std::vector<Index> selected;  // in the order of entering
  std::vector<double> losses;   // after each of them; the last one after all swaps
  std::vector<GreedyRound> rounds;
  double tau = 0;        // with nothing selected
  double final_tau = 0;  // outside the selected set
  double null_loss = 0;
  Solution solution;
};

/// Group orthogonal matching pursuit.
Greedy omp(const Problem& problem, const GreedyOptions& options);
/// Orthogonal matching pursuit with replacement, from the set that omp gives.
Greedy ompr(const Problem& problem, const GreedyOptions& options);
/// Iterative hard thresholding with line search, refitted at the end.
Greedy iht(const Problem& problem, const GreedyOptions& options);
/// One group-LASSO solution after the other just below tau, what was selected unpenalised. Throws Error where
/// a solution selects another group than the largest gradient, which only a tie or too large an epsilon
/// explains.
Greedy sequential_lasso(const Problem& problem, const Options& solver, const GreedyOptions& options);

}  // namespace hewn::convex
