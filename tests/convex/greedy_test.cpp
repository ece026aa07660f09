#include "hewn/convex/greedy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hewn/convex/solver/subset.h"
#include "hewn/core/error.h"
#include "tests/convex/support.h"

namespace hewn::convex {
namespace {

Problem grouped(const std::string& loss, uint64_t seed) {
  const Index outputs = loss == "gaussian" || loss == "multinomial" ? 2 : 1;
  Problem problem = problem_of(loss, 90, 24, outputs, seed);
  problem.groups = Groups::sizes(std::vector<Index>(8, 3), outputs);
  if (loss != "gaussian") problem.ridge = 1e-2;
  return problem;
}

TEST(Greedy, SequentialLassoIsMatchingPursuit) {
  for (const auto& row : losses()) {
    for (uint64_t seed = 0; seed < 3; ++seed) {
      const Problem problem = grouped(std::string(row.name), 20 + seed);
      GreedyOptions options;
      options.k = 4;
      options.epsilon = 1e-5;
      Options solver;
      solver.tolerance = 1e-9;
      const Greedy a = omp(problem, options);
      const Greedy b = sequential_lasso(problem, solver, options);
      EXPECT_EQ(a.selected, b.selected) << row.name;
      for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(a.losses[i], b.losses[i], 1e-8);
    }
  }
}

TEST(Greedy, OmprNeverEndsWorseThanWhatItSaw) {
  int swaps = 0;
  int worse = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Problem problem = problem_of("gaussian", 30, 40, 1, 100 + seed);
    GreedyOptions options;
    options.k = 5;
    options.rounds = 30;
    const Greedy start = omp(problem, options);
    const Greedy kept = ompr(problem, options);
    EXPECT_LE(kept.solution.objective, start.solution.objective * (1 + 1e-12));
    double least = kept.rounds.front().objective;
    for (const GreedyRound& round : kept.rounds) least = std::min(least, round.objective);
    EXPECT_LE(kept.solution.objective, least * (1 + 1e-12));
    options.literal = true;
    const Greedy literal = ompr(problem, options);
    EXPECT_EQ(literal.rounds.size(), 35U);
    for (std::size_t i = 5; i < literal.rounds.size(); ++i) {
      ++swaps;
      worse += literal.rounds[i].objective > literal.rounds[i - 1].objective ? 1 : 0;
    }
    EXPECT_NEAR(literal.solution.objective, literal.rounds.back().objective, 1e-12);
  }
  // Correction 4: Algorithm 2 as written goes up about as often as down.
  EXPECT_GT(worse, swaps / 5);
}

TEST(Greedy, FindsThePlantedGroups) {
  for (const Score score : {Score::kNorm, Score::kCurvature}) {
    Matrix x = normal(100, 30, 5);
    Problem problem;
    problem.y = 2 * x.col(3) - x.col(4) + 3 * x.col(21) + 0.1 * normal(100, 1, 6);
    problem.x = dense_design(x);
    problem.loss = &find_loss("gaussian");
    problem.groups = Groups::sizes(std::vector<Index>(10, 3), 1);
    GreedyOptions options;
    options.k = 2;
    options.score = score;
    for (const auto& method : {omp, ompr, iht}) {
      std::vector<Index> found = method(problem, options).selected;
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, (std::vector<Index>{1, 7}));
    }
  }
}

TEST(Greedy, MoreGroupsThanThereAreSelectsAll) {
  const Problem problem = grouped("gaussian", 4);
  GreedyOptions options;
  options.k = 100;
  for (const auto& method : {omp, ompr, iht}) {
    const Greedy all = method(problem, options);
    EXPECT_EQ(all.selected.size(), 8U);
    EXPECT_EQ(all.losses.size(), 8U);
    EXPECT_EQ(all.final_tau, 0);
  }
  options.k = 0;
  EXPECT_THROW(omp(problem, options), Error);
}

TEST(Greedy, DuplicateColumnsTie) {
  Matrix x = normal(40, 6, 8);
  x.col(4) = x.col(1);
  Problem problem;
  problem.y = x.col(1);
  problem.x = dense_design(x);
  problem.loss = &find_loss("gaussian");
  problem.groups = Groups::features(6, 1);
  GreedyOptions options;
  options.k = 3;
  const Greedy result = omp(problem, options);
  EXPECT_EQ(result.selected[0], 1);
  EXPECT_TRUE(result.rounds[0].tie);
  EXPECT_EQ(result.solution.certificate.verdict, Verdict::kTie);
  EXPECT_NEAR(result.losses[0], 0, 1e-20);
}

TEST(Greedy, SeparableClassesAskForRidge) {
  Problem problem;
  Matrix x = normal(30, 3, 2);
  problem.y = (x.col(0).array() > 0).cast<double>().matrix();
  problem.x = dense_design(x);
  problem.loss = &find_loss("binomial");
  problem.groups = Groups::features(3, 1);
  GreedyOptions options;
  try {
    omp(problem, options);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("ridge"), std::string::npos) << error.what();
  }
  problem.ridge = 1e-3;
  EXPECT_EQ(omp(problem, options).selected[0], 0);
}

TEST(Greedy, UnpenalisedGroupsAreAlwaysIn) {
  Problem problem = grouped("gaussian", 6);
  problem.groups.set_weight(7, 0);
  GreedyOptions options;
  options.k = 2;
  const Greedy result = omp(problem, options);
  EXPECT_EQ(std::count(result.selected.begin(), result.selected.end(), 7), 0);
  EXPECT_EQ(std::count(result.solution.support.begin(), result.solution.support.end(), 7), 1);
}

}  // namespace
}  // namespace hewn::convex
