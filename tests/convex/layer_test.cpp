// Blocks of a layer on its Gram matrix, against the general solver on the samples themselves.
#include "hewn/convex/layer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "hewn/core/error.h"
#include "tests/convex/support.h"

namespace hewn::convex {
namespace {

/// A layer of 13 inputs and 7 outputs in ragged blocks of 4x3, and the samples behind its Gram matrix.
struct Sample {
  Matrix x = correlated(60, 13, 1);
  Matrix weight = normal(13, 7, 2);
  LayerProblem problem{x.transpose() * x / 60.0, weight, {13, 7, {4, 3}}, 0.01};

  double loss(const Matrix& b) const { return (x * (weight - b)).squaredNorm() / 2 / 60; }
  /// The same for the solver that knows samples only.
  Problem on_samples() const {
    Problem out;
    out.x = dense_design(x);
    out.y = x * weight;
    out.loss = &find_loss("gaussian");
    out.groups = Groups::blocks(13, 7, 4, 3);
    out.ridge = 0.01;
    out.intercept = false;
    return out;
  }
};

TEST(Layer, OmpIsThatOfTheGeneralSolver) {
  const Sample sample;
  for (const Score score : {Score::kNorm, Score::kCurvature}) {
    GreedyOptions general;
    general.k = 9;
    general.score = score;
    const Greedy expected = omp(sample.on_samples(), general);
    const LayerChoice found = choose_blocks(sample.problem, {"omp", 9, score});
    EXPECT_EQ(found.blocks, expected.selected);
    EXPECT_NEAR(found.null_loss, expected.null_loss, 1e-9);
    for (size_t i = 0; i < 9; ++i) EXPECT_NEAR(found.losses[i], expected.losses[i], 1e-7) << i;
    EXPECT_NEAR(sample.loss(found.weight), found.losses.back(), 1e-10);
  }
}

TEST(Layer, WeightsAreZeroOutsideTheBlocks) {
  const Sample sample;
  const LayerChoice found = choose_blocks(sample.problem, {"ompr", 4});
  for (Index i = 0; i < 13; ++i) {
    for (Index j = 0; j < 7; ++j) {
      const Index block = sample.problem.grid.block_of(i, j);
      const bool kept = std::find(found.blocks.begin(), found.blocks.end(), block) != found.blocks.end();
      EXPECT_EQ(found.weight(i, j) != 0, kept) << i << " " << j;
    }
  }
}

TEST(Layer, OmprNeverEndsAboveOmp) {
  int improved = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const Matrix x = correlated(40, 24, 10 + seed);
    const LayerProblem problem{x.transpose() * x / 40.0, normal(24, 6, 50 + seed), {24, 6, {2, 2}}, 1e-6};
    const LayerChoice forward = choose_blocks(problem, {"omp", 12});
    const LayerChoice swapped = choose_blocks(problem, {"ompr", 12});
    EXPECT_LE(swapped.losses.back(), forward.losses.back() * (1 + 1e-6));
    EXPECT_EQ(swapped.blocks.size(), 12U);
    improved += swapped.losses.back() < forward.losses.back() * 0.999 ? 1 : 0;
  }
  EXPECT_GT(improved, 3);
}

TEST(Layer, RefittingHelpsMagnitudeAndOmpBeatsBoth) {
  const Sample sample;
  const double refitted = choose_blocks(sample.problem, {"magnitude", 5}).losses.back();
  const LayerChoice kept = choose_blocks(sample.problem, {"magnitude", 5, Score::kNorm, false});
  EXPECT_LT(refitted, kept.losses.back());
  EXPECT_LT(choose_blocks(sample.problem, {"omp", 5}).losses.back(), refitted);
  // Without a refit what is kept is what was there.
  const Index first = kept.blocks[0];
  const Index row = first / 3 * 4;
  const Index col = first % 3 * 3;
  EXPECT_EQ(kept.weight(row, col), sample.weight(row, col));
}

TEST(Layer, AllBlocksGiveTheLayerBack) {
  Sample sample;
  sample.problem.ridge = 0;
  const LayerChoice found = choose_blocks(sample.problem, {"omp", 12});
  EXPECT_LT((found.weight - sample.weight).norm(), 1e-9);
  EXPECT_LT(found.losses.back(), 1e-12);
}

TEST(Layer, InputsThatAreAlwaysZeroDoNoHarm) {
  Sample sample;
  sample.problem.gram.row(5).setZero();
  sample.problem.gram.col(5).setZero();
  for (const double ridge : {0.0, 1e-3}) {
    sample.problem.ridge = ridge;
    const LayerChoice found = choose_blocks(sample.problem, {"ompr", 6});
    EXPECT_TRUE(found.weight.allFinite());
    EXPECT_LT(found.losses.back(), found.null_loss);
  }
}

TEST(Layer, MistakesAreNamed) {
  Sample sample;
  EXPECT_THROW(choose_blocks(sample.problem, {"omp", 0}), Error);
  EXPECT_THROW(choose_blocks(sample.problem, {"omp", 13}), Error);
  EXPECT_THROW(choose_blocks(sample.problem, {"iht", 3}), Error);
  sample.problem.weight(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(choose_blocks(sample.problem, {"omp", 3}), Error);
}

}  // namespace
}  // namespace hewn::convex
