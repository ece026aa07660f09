#include "hewn/convex/mask.h"

#include <gtest/gtest.h>

#include "hewn/convex/path.h"
#include "hewn/core/error.h"
#include "tests/convex/support.h"

namespace hewn::convex {
namespace {

const std::vector<std::string> kMasks = {"identity", "exp", "l1", "powerprop", "powerprop:3", "powerprop:4"};

TEST(Mask, FoldUndoesLiftAndPaysThePenalty) {
  for (const std::string& name : kMasks) {
    const Mask mask = parse_mask(name);
    const Penalty penalty = mask.equivalent();
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const Vector u = normal(4, 1, seed) * std::pow(10.0, static_cast<double>(seed % 5) - 2);
      const Masked lifted = lift(mask, u);
      EXPECT_LT((fold(mask, lifted) - u).norm(), 1e-12 * u.norm()) << name;
      EXPECT_NEAR(cost(mask, lifted), penalty.scalar().value(u.norm()), 1e-12 * cost(mask, lifted)) << name;
      // No other factor for the same u is cheaper.
      for (const double share : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0}) {
        if (!mask.has_factor()) break;
        Masked other = lifted;
        other.w *= share;
        other.b = u * (mask.kind == Mask::Kind::kExp ? std::exp(-other.w) : 1 / other.w);
        EXPECT_GE(cost(mask, other), cost(mask, lifted) * (1 - 1e-12)) << name;
      }
    }
  }
}

// The solver of the penalty cannot be improved in mask form, and training the mask form from there stays
// there.
TEST(Mask, TrainingReachesThePenaltysObjective) {
  for (const std::string& name : kMasks) {
    const Mask mask = parse_mask(name);
    Problem problem = problem_of("gaussian", 40, 6, 2, 11);
    problem.groups = Groups::sizes({2, 2, 2}, 2);
    problem.groups.set_weights((Vector(3) << 1, 0.7, 1.2).finished());
    Options options;
    options.tolerance = 1e-11;
    const double lambda = 0.1;
    const Solution solution = solve(problem, mask.equivalent(), lambda, options);
    ASSERT_TRUE(solution.converged) << name;
    const MaskTraining trained =
        train_mask(problem, mask, lambda, problem.groups.collect(solution.coefficients(problem.groups)));
    EXPECT_NEAR(trained.objective, solution.objective, 1e-9) << name;
    // From elsewhere it may end in another minimum, never in a lower one here.
    const MaskTraining fresh = train_mask(problem, mask, lambda, 0.5 * normal(12, 1, 3));
    EXPECT_GE(fresh.objective, solution.objective - 1e-9) << name;
  }
}

// Where the equivalent penalty is convex, training from elsewhere reaches the same minimum.
TEST(Mask, ConvexEquivalentsAreFoundFromElsewhere) {
  for (const std::string name : {"identity", "powerprop"}) {
    Problem problem = problem_of("gaussian", 40, 6, 1, 12);
    problem.groups = Groups::sizes({2, 2, 2}, 1);
    Options options;
    options.tolerance = 1e-11;
    const Solution solution = solve(problem, Penalty(), 0.05, options);
    const MaskTraining trained = train_mask(problem, parse_mask(name), 0.05, Vector::Constant(6, 0.3));
    EXPECT_NEAR(trained.objective, solution.objective, 1e-7) << name;
  }
}

// A single coefficient cannot turn: from the wrong sign it falls into the saddle at zero.
TEST(Mask, ZeroIsASaddleOfIdentityMasks) {
  const Problem problem = problem_of("gaussian", 40, 5, 1, 12);
  const MaskTraining dead = train_mask(problem, parse_mask("identity"), 1e-3, Vector::Zero(5));
  EXPECT_EQ(dead.solution.coefficients(problem.groups).norm(), 0);
  EXPECT_TRUE(dead.at_saddle);
  EXPECT_FALSE(dead.solution.converged);
  // Above tau it is the minimum, and no saddle.
  const MaskTraining empty = train_mask(problem, parse_mask("identity"), 100, Vector::Zero(5));
  EXPECT_TRUE(empty.solution.converged);
}

TEST(Mask, NamesAreChecked) {
  EXPECT_THROW(parse_mask("softmax"), Error);
  EXPECT_THROW(parse_mask("powerprop:1"), Error);
}

}  // namespace
}  // namespace hewn::convex
