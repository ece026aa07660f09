#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/convex/cross_validation.h"
#include "hewn/convex/dataset.h"
#include "hewn/convex/greedy.h"

namespace hewn::convex {

/// What `hewn select` can be asked.
struct SelectOptions {
  /// A row of methods(); some take a number, as in q-pow:0.5.
  std::string method = "omp";
  /// Groups to select; 0: 10 for subset methods, all that a path selects for the others.
  int64_t k = 0;
  /// Size of the set that OMPR keeps; 0: k.
  int64_t kprime = 0;
  /// A number, or a share of tau as in 0.1tau; empty: a path.
  std::string lambda;
  /// Norm that q-log, sum-log and lambert take for 1; auto: that of a step of the best single group.
  std::optional<double> unit;
  /// Lambdas of a path; 0: 100.
  int64_t path = 0;
  /// Last lambda of a path as a share of tau.
  double min_ratio = 0.01;
  /// Folds of cross-validation, which then chooses lambda, or for subset methods the number of groups up to
  /// k; 0: none.
  int64_t cv = 0;
  /// one-se: the sparsest within one standard error of the best; min: the best.
  std::string cv_rule = "one-se";
  /// What cross-validation looks at: loss, deviance, accuracy or auc.
  std::string measure = "loss";
  /// aic, bic, ebic or gic chooses lambda or the number of groups instead; empty: none.
  std::string criterion;
  /// Groups, or features whose groups, are always in and not penalised.
  std::vector<std::string> keep;
  /// File of lines "group,factor": what a group's weight is multiplied with; 0: as keep. Empty: none.
  std::string penalty_factors;
  /// Elastic net: lambda (mix sum of norms + (1 - mix)/2 squared norm); 1: norms alone.
  double mix = 1;
  /// Sparse groups: share of the norms' penalty that goes to the absolute values of single coefficients.
  double singles = 0;
  /// auto: 1e-3 for subset methods with classes or counts, else 0.
  std::optional<double> ridge;
  bool intercept = true;
  bool standardise = false;
  /// File with one group label per feature; empty: none.
  std::string groups;
  /// Consecutive features per group; 0: none.
  int64_t group_size = 0;
  /// Tiles of the coefficient matrix, RxC; empty: none.
  std::string block;
  /// one, or sqrt of the group's size.
  std::string group_weights = "one";
  /// Groups that OMPR begins with, by name; empty: those of OMP.
  std::vector<std::string> start;
  /// Swaps of OMPR at most; 0: 100.
  int64_t rounds = 0;
  /// Also say what Theorem 2 asks for, for OMPR to come near the best set; gaussian, at most 15 groups.
  bool bound = false;
  /// Also train the masks that a mask method stands for, and compare; needs lambda.
  bool train_mask = false;
  /// Sweeps of one solution at most; 0: 100000.
  int64_t sweeps = 0;
  /// omp and ompr: the method with a penalty that chooses which group enters; empty: the largest gradient.
  std::string q;
  /// OMPR as Algorithm 2 writes it.
  bool literal = false;
  /// norm or curvature: what subset methods rank groups by.
  std::string score = "norm";
  /// Relative violation of the optimality conditions.
  double tolerance = 1e-6;
  /// Sequential LASSO, and omp and ompr with a q, solve at (1 - epsilon) tau.
  double epsilon = 1e-3;
  /// Share of samples to leave out and measure on; 0: none.
  double holdout = 0;
  int64_t seed = 0;
  /// Fold of each sample, from 0; empty: by the seed.
  std::vector<int> folds;
  /// Threads of cross-validation.
  int64_t threads = 1;
};

/// What a model does on samples that were left out.
struct HoldoutScore {
  double loss = 0;
  double accuracy = 0;  // share of right classes or, for cox, pairs; else the share of variance explained
};

/// What training the masks of a mask method gave, beside the penalised solution.
struct TrainedMask {
  double objective = 0;
  double penalised = 0;  // objective of the penalised solution
  double distance = 0;   // between their coefficients, relative
  int iterations = 0;    // of the best start
  bool at_saddle = false;
};

/// What Theorem 2 asks for, to come within a hundredth of what all groups together explain.
struct OmprDemand {
  int64_t kprime = 0;
  int64_t rounds = 0;
  double smooth = 0;          // L_2
  double strong = 0;          // mu over k + kprime groups
  bool says_nothing = false;  // kprime is more than there are groups
};

struct Selection {
  std::vector<Index> selected;  // penalised groups in order
  std::vector<double> losses;   // after each: mean over samples, without ridge and penalty
  double tau = 0;               // the least lambda at which the method selects nothing
  double unit = 1;              // of norms, as the penalty sees them
  double null_loss = 0;
  double mix = 1;  // as asked for
  double singles = 0;
  Solution solution;
  std::vector<std::string> group_names;
  std::optional<Path> path;  // methods that follow one
  std::size_t chosen = 0;    // lambda of the path
  std::optional<CrossValidation> cv;
  std::vector<double>
      criterion;         // for each lambda of the path or each number of groups, where one was asked for
  double explained = 0;  // share of the null model's deviance
  std::vector<GreedyRound> rounds;  // of subset methods, in order
  std::optional<TrainedMask> trained;
  std::optional<OmprDemand> demand;
  std::optional<HoldoutScore> holdout;      // refitted on the selected groups
  std::optional<HoldoutScore> holdout_all;  // on all of them
  Problem problem;                          // as solved, groups included
};

struct MethodRow {
  std::string_view name;
  std::string_view help;
};
const std::vector<MethodRow>& methods();

/// Selects groups. `progress` is told how many steps of how many are done. Throws Error naming the option
/// that does not fit.
Selection select(const Dataset& data, const SelectOptions& options,
                 const std::function<void(int, int)>& progress);

}  // namespace hewn::convex
