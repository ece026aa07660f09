#include "hewn/convex/path.h"

#include <gtest/gtest.h>

#include "hewn/convex/fit/condensed.h"
#include "tests/convex/support.h"

namespace hewn::convex {
namespace {

TEST(Path, EveryLossReachesItsTolerance) {
  for (const auto& row : losses()) {
    const std::string loss(row.name);
    const Index outputs = loss == "gaussian" || loss == "multinomial" ? 3 : 1;
    Problem problem = problem_of(loss, 80, 40, outputs, 1);
    problem.groups = Groups::sizes(std::vector<Index>(10, 4), outputs);
    Options options;
    options.tolerance = 1e-7;
    PathOptions path;
    path.count = 20;
    path.min_ratio = 0.05;
    const Path result = solve_path(problem, Penalty(), options, path);
    ASSERT_EQ(result.solutions.size(), 20U);
    EXPECT_TRUE(result.solutions.front().support.empty());
    for (const Solution& s : result.solutions) {
      EXPECT_TRUE(s.converged) << loss << " " << s.lambda / result.tau;
      EXPECT_LE(s.certificate.kkt, 1e-7) << loss;
      if (loss == "cox") continue;  // has no bound to be certified by
      EXPECT_LE(s.certificate.gap, 1e-6 * std::abs(result.null_objective))
          << loss << " " << s.lambda / result.tau;
      EXPECT_EQ(s.certificate.verdict, Verdict::kCertified) << loss;
    }
    EXPECT_GT(result.solutions.back().support.size(), 2U);
  }
}

TEST(Path, GramAndResidualAgree) {
  for (const bool standardise : {false, true}) {
    Problem problem = problem_of("gaussian", 60, 50, 2, 3);
    problem.groups = Groups::blocks(50, 2, 3, 1);
    problem.standardise = standardise;
    problem.ridge = 0.01;
    PathOptions path;
    path.count = 10;
    path.min_ratio = 0.02;
    Options options;
    options.tolerance = 1e-9;
    options.mode = Mode::kGram;
    const Path gram = solve_path(problem, Penalty(), options, path);
    options.mode = Mode::kResidual;
    const Path residual = solve_path(problem, Penalty(), options, path);
    for (std::size_t i = 0; i < gram.solutions.size(); ++i) {
      EXPECT_NEAR(gram.solutions[i].objective, residual.solutions[i].objective, 1e-10);
      EXPECT_EQ(gram.solutions[i].support, residual.solutions[i].support);
    }
  }
}

TEST(Path, ManySamplesAreCondensed) {
  for (const bool standardise : {false, true}) {
    for (const bool intercept : {false, true}) {
      Problem problem = problem_of("gaussian", 120, 12, 2, 4);
      problem.y.array() += 3;
      problem.groups = Groups::blocks(12, 2, 3, 1);
      problem.standardise = standardise;
      problem.intercept = intercept;
      problem.sample_weight = normal(120, 1, 9).cwiseAbs();
      problem.offset = normal(120, 2, 10);
      problem.ridge = 0.01;
      Options options;
      options.tolerance = 1e-9;
      PathOptions path;
      path.count = 8;
      const Path here = solve_path(problem, Penalty(), options, path);
      options.mode = Mode::kResidual;
      const Path there = solve_path(problem, Penalty(), options, path);
      EXPECT_NEAR(here.tau, there.tau, 1e-12 * there.tau);
      for (std::size_t i = 0; i < 8; ++i) {
        const Solution& a = here.solutions[i];
        const Solution& b = there.solutions[i];
        EXPECT_EQ(a.support, b.support);
        EXPECT_NEAR(a.objective, b.objective, 1e-10 * b.objective);
        EXPECT_NEAR(a.loss, b.loss, 1e-8 * b.loss);
        EXPECT_LE((a.coefficients(problem.groups) - b.coefficients(problem.groups)).norm(), 1e-7);
        EXPECT_LE((a.intercept - b.intercept).norm(), 1e-7);
      }
    }
  }
}

TEST(Path, NearlyDependentColumnsAreNotCondensed) {
  Problem problem = problem_of("gaussian", 200, 5, 1, 5);
  Matrix x = correlated(200, 5, 5);
  x.col(4) = x.col(3) + 1e-7 * x.col(4);
  problem.x = dense_design(x);
  EXPECT_EQ(condense(problem, {}), nullptr);
  x.col(4) = normal(200, 1, 6);
  problem.x = dense_design(x);
  EXPECT_NE(condense(problem, {}), nullptr);
  x.col(4).array() += 1e4;  // its mean would take the digits
  problem.x = dense_design(x);
  EXPECT_EQ(condense(problem, {}), nullptr);
}

TEST(Path, ScreeningChangesNothing) {
  for (const std::string loss : {"gaussian", "binomial"}) {
    const Problem problem = problem_of(loss, 60, 800, 1, 5);
    Options options;
    options.tolerance = 1e-7;
    PathOptions path;
    path.count = 30;
    path.min_ratio = 0.1;
    const Path screened = solve_path(problem, Penalty(), options, path);
    options.screen = false;
    const Path full = solve_path(problem, Penalty(), options, path);
    for (std::size_t i = 0; i < full.solutions.size(); ++i) {
      EXPECT_NEAR(screened.solutions[i].objective, full.solutions[i].objective, 1e-8) << loss << i;
      EXPECT_NEAR(screened.solutions[i].certificate.gap, full.solutions[i].certificate.gap, 1e-6);
    }
  }
}

TEST(Path, HeldCurvatureEndsWhereABoundDoes) {
  for (const Index size : {1, 3}) {
    for (const auto& [n, p] : {std::pair<Index, Index>{50, 120}, {200, 30}}) {
      Problem problem = problem_of("binomial", n, p, 1, 12);
      problem.groups = Groups::sizes(std::vector<Index>(to_size(p / size), size), 1);
      problem.sample_weight = normal(n, 1, 13).cwiseAbs();
      problem.offset = 0.5 * normal(n, 1, 14);
      problem.ridge = size == 1 ? 0 : 0.01;
      Options options;
      options.tolerance = 1e-9;
      PathOptions path;
      path.count = 20;
      path.min_ratio = 0.05;
      const Path held = solve_path(problem, Penalty(), options, path);
      options.mode = Mode::kResidual;
      const Path residual = solve_path(problem, Penalty(), options, path);
      options.mode = Mode::kAuto;
      options.curvature = Curvature::kFixed;
      const Path fixed = solve_path(problem, Penalty(), options, path);
      for (std::size_t i = 0; i < fixed.solutions.size(); ++i) {
        EXPECT_TRUE(held.solutions[i].converged);
        EXPECT_EQ(held.solutions[i].support, fixed.solutions[i].support);
        EXPECT_NEAR(held.solutions[i].objective, fixed.solutions[i].objective, 1e-10);
        EXPECT_NEAR(held.solutions[i].objective, residual.solutions[i].objective, 1e-10);
      }
    }
  }
}

TEST(Path, NearlyDependentColumnsConverge) {
  for (const double distance : {1e-2, 1e-3, 1e-4, 1e-5}) {
    for (const Index size : {1, 2}) {
      Matrix x = normal(60, 7, 21);
      for (Index j = 1; j < 4; ++j) x.col(j) = x.col(0) + distance * x.col(j);
      Problem problem;
      problem.y = x.col(4) + (x.col(2) - x.col(0)) / distance + 0.1 * normal(60, 1, 22);
      problem.x = dense_design(x);
      problem.loss = &find_loss("gaussian");
      problem.groups = size == 1 ? Groups::features(7, 1) : Groups::sizes({2, 2, 2, 1}, 1);
      PathOptions path;
      path.min_ratio = 1e-5;
      for (const Solution& s : solve_path(problem, Penalty(), {}, path).solutions) {
        EXPECT_TRUE(s.converged) << distance << ' ' << size << ' ' << s.lambda << ' ' << s.certificate.kkt;
        EXPECT_LT(s.sweeps, 20000) << distance << ' ' << size;
      }
    }
  }
}

}  // namespace
}  // namespace hewn::convex
