// What holds and what does not (docs/theory.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hewn/convex/fit/fitter.h"
#include "hewn/convex/greedy.h"
#include "hewn/convex/mask.h"
#include "hewn/convex/path.h"
#include "hewn/convex/solver/subset.h"
#include "hewn/convex/theory.h"
#include "hewn/core/error.h"
#include "tests/convex/support.h"

namespace hewn::convex {
namespace {

Options tight() {
  Options options;
  options.tolerance = 1e-10;
  return options;
}

/// F at any coefficients, straight from the definition.
class Objective {
 public:
  explicit Objective(const Problem& problem) : problem_(problem), subsets_(problem) {
    for (Index g = 0; g < problem.groups.count(); ++g) all_.push_back(g);
  }
  double operator()(const Penalty& penalty, double lambda, const Vector& values) {
    const Groups& groups = problem_.groups;
    subsets_.evaluate(all_, values, Eigen::RowVectorXd::Zero(problem_.y.cols()), at_);
    return at_.objective + lambda * penalty.value(groups.norms(groups.spread(values)), groups.weights());
  }

 private:
  const Problem& problem_;
  Subsets subsets_;
  std::vector<Index> all_;
  Evaluation at_;
};

// Theorem 1 by brute force: just below tau no point of a fine grid beats the group-LASSO solution under the
// composed penalty, for four features and any q that it covers.
TEST(Theory, OneGroupSolutionIsGlobalForComposedPenalties) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Problem problem = problem_of("gaussian", 12, 3, 1, 40 + seed);
    problem.intercept = false;
    Fitter fitter(problem, Penalty(), tight());
    Objective objective(problem);
    const double lambda = 0.97 * fitter.tau();
    const Solution lasso = fitter.fit(lambda);
    ASSERT_EQ(lasso.support.size(), 1U);
    EXPECT_EQ(lasso.support[0], fitter.first_group());
    for (const std::string name : {"power:0.5", "power:0.8", "log"}) {
      const Penalty penalty(Form::kComposed, name);
      const Solution composed = solve(problem, penalty, lambda, tight());
      EXPECT_EQ(composed.support, lasso.support) << name;
      EXPECT_EQ(composed.certificate.verdict, Verdict::kCertified) << name;
      EXPECT_NEAR(composed.objective, lasso.objective, 1e-10) << name;
      const double size = 3 * std::abs(lasso.values[0]);
      Vector at(3);
      for (int i = -16; i <= 16; ++i) {
        for (int j = -16; j <= 16; ++j) {
          for (int k = -16; k <= 16; ++k) {
            at << size * i / 16, size * j / 16, size * k / 16;
            ASSERT_GE(objective(penalty, lambda, at), composed.objective - 1e-10) << name;
          }
        }
      }
    }
  }
}

TEST(Theory, GroupLassoStartsWithTheLargestGradient) {
  for (const auto& row : losses()) {
    const std::string loss(row.name);
    const Index outputs = loss == "gaussian" || loss == "multinomial" ? 3 : 1;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      Problem problem = problem_of(loss, 60, 24, outputs, 50 + seed);
      problem.groups = Groups::sizes(std::vector<Index>(8, 3), outputs);
      Fitter fitter(problem, Penalty(), tight());
      const Index first = fitter.first_group();
      EXPECT_TRUE(fitter.fit(1.0001 * fitter.tau()).support.empty());
      const Solution below = fitter.fit(0.999 * fitter.tau());
      ASSERT_EQ(below.support.size(), 1U) << loss;
      EXPECT_EQ(below.support[0], first) << loss;
      for (const std::string name : {"power:0.5", "log"}) {
        EXPECT_EQ(solve(problem, Penalty(Form::kComposed, name), 0.999 * fitter.tau(), tight()).support,
                  below.support);
      }
    }
  }
}

// Correction 2: masks give sums, which Theorem 1 does not cover.
TEST(Theory, L1MaskPicksAnotherCoordinateThanTheGroupLasso) {
  Problem problem;
  Matrix x(2, 2);
  x << 10, 0, 0, 1;
  problem.x = dense_design(x);
  problem.y = (Matrix(2, 1) << 1, 5).finished();
  problem.loss = &find_loss("gaussian");
  problem.groups = Groups::features(2, 1);
  problem.intercept = false;
  Fitter fitter(problem, Penalty(), tight());
  const double lambda = 0.9 * fitter.tau();
  EXPECT_EQ(fitter.fit(lambda).support, std::vector<Index>{0});
  // The sum-form penalty at a lambda where one coordinate is left: brute force over both.
  const Penalty penalty = parse_mask("l1").equivalent();
  for (double at = 3; at > 0.05; at *= 0.9) {
    const Solution solution = solve(problem, penalty, at, tight());
    if (solution.support.size() == 1) {
      EXPECT_EQ(solution.support[0], 1);
      return;
    }
  }
  FAIL() << "no lambda selected a single coordinate";
}

// Correction 1: the penalty of exp masks leaves no zeros.
TEST(Theory, LambertPenaltyNeverGivesZeros) {
  const Problem problem = problem_of("gaussian", 40, 6, 1, 3);
  const Solution solution = solve(problem, Penalty(Form::kSum, "lambert"), 0.3, tight());
  EXPECT_EQ(solution.support.size(), 6U);
}

TEST(Theory, ComposedObjectiveIsBoundedByTheGap) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Problem problem = problem_of("gaussian", 30, 3, 1, 70 + seed);
    problem.intercept = false;
    const Fitter fitter(problem, Penalty(), tight());
    const double lambda = 0.3 * fitter.tau();
    const Penalty penalty(Form::kComposed, "log");
    const Solution solution = solve(problem, penalty, lambda, tight());
    Objective objective(problem);
    double best = solution.objective;
    Vector at(3);
    for (int i = -30; i <= 30; ++i) {
      for (int j = -30; j <= 30; ++j) {
        for (int k = -30; k <= 30; ++k) {
          at << 0.1 * i, 0.1 * j, 0.1 * k;
          best = std::min(best, objective(penalty, lambda, at));
        }
      }
    }
    EXPECT_LE(solution.objective - best, solution.certificate.gap + 1e-10);
    EXPECT_LE(solution.objective, best + 0.02 * std::abs(best));
  }
}

TEST(Theory, OneGroupInsideTheSelectionWindow) {
  int sure = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Problem problem = problem_of("gaussian", 60, 12, 2, 80 + seed);
    problem.groups = Groups::sizes(std::vector<Index>(6, 2), 2);
    problem.groups.set_weights(1 + 0.3 * normal(6, 1, seed).cwiseAbs().array());
    const SelectionWindow window = selection_window(problem);
    EXPECT_LE(window.second, window.tau);
    if (window.lowest >= window.tau) continue;
    ++sure;
    Fitter fitter(problem, Penalty(), tight());
    for (const double share : {0.0, 0.5, 0.99}) {
      const double lambda = window.tau - (window.tau - window.lowest) * (1 - share);
      EXPECT_EQ(Fitter(problem, Penalty(), tight()).fit(lambda).support, std::vector<Index>{window.group})
          << seed;
    }
  }
  EXPECT_GT(sure, 5);
}

// OMPR's guarantee, on designs near orthogonal where it says something at all.
TEST(Theory, OmprMeetsItsBound) {
  int told = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Problem problem;
    const Matrix x = normal(4000, 8, 90 + seed);
    problem.x = dense_design(x);
    problem.y = x.col(6) + 0.5 * normal(4000, 1, 95 + seed);
    problem.loss = &find_loss("gaussian");
    problem.groups = Groups::features(8, 1);
    problem.intercept = false;
    GreedyOptions options;
    options.k = 1;
    double best = std::numeric_limits<double>::infinity();
    Subsets subsets(problem);
    for (Index g = 0; g < 8; ++g) best = std::min(best, subsets.fit({g}, nullptr).objective);
    const double epsilon = 1e-6;
    const OmprBound bound = ompr_bound(problem, 1, subsets.fit({}, nullptr).objective - best, epsilon);
    if (bound.kprime > 8) continue;
    ++told;
    options.kprime = bound.kprime;
    options.rounds = static_cast<int>(bound.rounds);
    options.literal = true;
    const Greedy result = ompr(problem, options);
    double least = result.solution.objective;
    for (const GreedyRound& round : result.rounds) least = std::min(least, round.objective);
    EXPECT_LE(least, best + epsilon);
  }
  EXPECT_GT(told, 2);
  EXPECT_THROW(restricted_constants(problem_of("gaussian", 30, 16, 1, 1), 2), Error);
  EXPECT_THROW(restricted_constants(problem_of("binomial", 30, 6, 1, 1), 2), Error);
}

TEST(Theory, TwoClassMultinomialIsBinomial) {
  Problem two = problem_of("binomial", 60, 10, 1, 9);
  two.ridge = 0.02;
  Problem multi = two;
  multi.loss = &find_loss("multinomial");
  multi.groups = Groups::features(10, 2);
  multi.y.resize(60, 2);
  multi.y.col(1) = two.y.col(0);
  multi.y.col(0) = 1 - two.y.col(0).array();
  multi.ridge = 0.04;
  const double lambda = 0.05;
  const Solution a = solve(two, Penalty(), lambda, tight());
  const Solution b = solve(multi, Penalty(), std::sqrt(2.0) * lambda, tight());
  ASSERT_EQ(a.support, b.support);
  EXPECT_GT(a.support.size(), 1U);
  EXPECT_NEAR(a.objective, b.objective, 1e-9);
  const Matrix ca = a.coefficients(two.groups);
  const Matrix cb = b.coefficients(multi.groups);
  EXPECT_LT((cb.col(1) - ca.col(0) / 2).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((cb.col(0) + ca.col(0) / 2).cwiseAbs().maxCoeff(), 1e-6);
}

}  // namespace
}  // namespace hewn::convex
