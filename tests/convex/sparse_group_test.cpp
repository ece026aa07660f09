// The sparse-group LASSO, and penalties that choose who enters a set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hewn/convex/greedy.h"
#include "hewn/convex/model.h"
#include "hewn/convex/path.h"
#include "hewn/core/error.h"
#include "tests/convex/support.h"
#include "tests/support/temp_folder.h"

namespace hewn::convex {
namespace {

Problem grouped(const std::string& loss, Index outputs, uint64_t seed) {
  Problem out = problem_of(loss, 60, 12, outputs, seed);
  out.groups = Groups::sizes({3, 1, 4, 2, 2}, outputs);
  return out;
}

Options exact() {
  Options out;
  out.tolerance = 1e-9;
  return out;
}

/// Proximal gradient steps on everything at once: slow, and nothing in it is shared with the solver but the
/// loss.
double slow_objective(const Problem& problem, double lambda, double singles) {
  const Index n = problem.x->rows();
  const Index p = problem.x->cols();
  const Index outputs = problem.y.cols();
  Matrix x = Matrix::Zero(n, p);
  std::vector<int> all(to_size(p));
  for (Index j = 0; j < p; ++j) all[to_size(j)] = static_cast<int>(j);
  problem.x->add_times(all, Matrix::Identity(p, p), x);
  const Vector weights = Vector::Constant(n, 1.0 / static_cast<double>(n));
  const double curvature = std::isfinite(problem.loss->curvature()) ? problem.loss->curvature() : 20;
  const double step = 1 / (curvature * (x.squaredNorm() / static_cast<double>(n) + 1) + problem.ridge);
  Matrix b = Matrix::Zero(p, outputs);
  Eigen::RowVectorXd a = Eigen::RowVectorXd::Zero(outputs);
  Matrix residual;
  double loss = 0;
  for (int i = 0; i < 20000; ++i) {
    const Matrix eta = (x * b).rowwise() + a;
    loss = problem.loss->value(eta, problem.y, weights, residual);
    const Matrix v = residual / static_cast<double>(n);
    a += step * v.colwise().sum();
    Matrix z = b + step * (x.transpose() * v - problem.ridge * b);
    const double cut = step * lambda * singles;
    z = z.unaryExpr([&](double t) { return t > cut ? t - cut : t < -cut ? t + cut : 0; });
    const Vector norms = problem.groups.norms(z);
    Vector shares(problem.groups.total());
    for (Index g = 0; g < problem.groups.count(); ++g) {
      const double l = step * lambda * (1 - singles) * problem.groups.weight(g);
      shares.segment(problem.groups.start(g), problem.groups.size(g))
          .setConstant(norms[g] > l ? 1 - l / norms[g] : 0);
    }
    b = z.cwiseProduct(problem.groups.spread(shares));
  }
  return loss + problem.ridge / 2 * b.squaredNorm() + lambda * singles * b.cwiseAbs().sum() +
         lambda * (1 - singles) * problem.groups.norms(b).dot(problem.groups.weights());
}

TEST(SparseGroup, MatchesProximalSteps) {
  for (const auto& [loss, outputs] : {std::pair<const char*, Index>{"gaussian", 1},
                                      {"gaussian", 3},
                                      {"binomial", 1},
                                      {"multinomial", 3},
                                      {"poisson", 1}}) {
    Problem problem = grouped(loss, outputs, 50);
    problem.ridge = outputs == 3 ? 0.01 : 0;
    for (const double singles : {0.3, 1.0}) {
      const Penalty penalty = Penalty::sparse_groups(singles);
      PathOptions path;
      path.count = 4;
      path.min_ratio = 0.1;
      const Path found = solve_path(problem, penalty, exact(), path);
      EXPECT_TRUE(found.solutions.front().support.empty()) << loss;
      for (const Solution& s : found.solutions) {
        EXPECT_EQ(s.certificate.verdict, Verdict::kCertified) << loss << ' ' << singles << ' ' << s.lambda;
      }
      const Solution& last = found.solutions.back();
      EXPECT_NEAR(last.objective, slow_objective(problem, last.lambda, singles),
                  1e-8 * std::abs(last.objective))
          << loss << ' ' << outputs << ' ' << singles;
    }
  }
}

TEST(SparseGroup, EmptiesJustAboveTau) {
  const Problem problem = grouped("gaussian", 2, 51);
  for (const double singles : {0.0, 0.3, 1.0}) {
    PathOptions path;
    path.count = 2;
    const double tau = solve_path(problem, Penalty::sparse_groups(singles), exact(), path).tau;
    const auto at = [&](double share) {
      return solve(problem, Penalty::sparse_groups(singles), share * tau, exact()).support.size();
    };
    EXPECT_EQ(at(1 + 1e-9), 0U);
    EXPECT_EQ(at(1 - 1e-6), 1U);
  }
}

TEST(SparseGroup, EndsAreTheLassoAndTheGroupLasso) {
  Problem problem = grouped("gaussian", 1, 52);
  const Solution groups = solve(problem, Penalty(), 0.05, exact());
  EXPECT_NEAR(solve(problem, Penalty::sparse_groups(0), 0.05, exact()).objective, groups.objective, 1e-12);
  const Solution singles = solve(problem, Penalty::sparse_groups(1), 0.05, exact());
  problem.groups = Groups::features(12, 1);
  EXPECT_NEAR(solve(problem, Penalty(), 0.05, exact()).objective, singles.objective, 1e-10);
  EXPECT_THROW(Penalty::sparse_groups(1.5), Error);
}

TEST(SparseGroup, NearlyDependentColumnsConverge) {
  Problem problem = grouped("gaussian", 1, 53);
  Matrix x = correlated(60, 12, 53);
  x.col(1) = x.col(0) + 1e-6 * normal(60, 1, 54);
  x.col(5) = x.col(4) + 1e-6 * normal(60, 1, 55);
  problem.x = dense_design(x);
  const Solution found = solve(problem, Penalty::sparse_groups(0.3), 0.01, exact());
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.certificate.verdict, Verdict::kCertified);
}

TEST(SparseGroup, FactorsAndKeptGroupsAndElasticNets) {
  Problem problem = grouped("gaussian", 1, 56);
  problem.groups.set_weight(1, 0);
  problem.groups.scale_weight(2, 1000);
  Options options = exact();
  const Solution found = solve(problem, Penalty::sparse_groups(0.5), 0.02, options);
  EXPECT_TRUE(std::binary_search(found.support.begin(), found.support.end(), 1));
  EXPECT_FALSE(std::binary_search(found.support.begin(), found.support.end(), 2));
  // An elastic net at lambda is ridge beside a smaller lambda.
  problem = grouped("gaussian", 1, 57);
  options.mix = 0.6;
  const Solution mixed = solve(problem, Penalty::sparse_groups(0.5), 0.1, options);
  problem.ridge = 0.04;
  EXPECT_NEAR(mixed.objective, slow_objective(problem, 0.06, 0.5), 1e-8 * mixed.objective);
}

TEST(Entering, ComposedPenaltiesLetTheLargestGradientIn) {
  for (const char* loss : {"gaussian", "binomial"}) {
    Problem problem = problem_of(loss, 60, 10, 1, 58);
    problem.ridge = 1e-3;
    GreedyOptions options;
    options.k = 3;
    options.rounds = 6;
    options.literal = true;
    options.start = {7, 8, 9};
    const Greedy plain = ompr(problem, options);
    for (const auto& q :
         {Penalty(), Penalty(Form::kComposed, "power:0.5"), Penalty(Form::kComposed, "log", 0.1)}) {
      options.q = q;
      const Greedy by_penalty = ompr(problem, options);
      ASSERT_EQ(by_penalty.rounds.size(), plain.rounds.size());
      for (std::size_t i = 0; i < plain.rounds.size(); ++i) {
        EXPECT_EQ(by_penalty.rounds[i].added, plain.rounds[i].added);
        EXPECT_EQ(by_penalty.rounds[i].added, by_penalty.rounds[i].largest);
        EXPECT_EQ(by_penalty.rounds[i].removed, plain.rounds[i].removed);
      }
    }
  }
}

TEST(Entering, SumsNeedNot) {
  // X = diag(10, 1), y = (1, 5): the norm to the 2/3 prefers the small column that explains more.
  Problem problem;
  problem.x = dense_design(Matrix(Vector{{10, 1}}.asDiagonal()));
  problem.y = Vector{{1, 5}};
  problem.loss = &find_loss("gaussian");
  problem.groups = Groups::features(2, 1);
  problem.intercept = false;
  GreedyOptions options;
  options.q = Penalty(Form::kSum, "l23");
  const Greedy found = omp(problem, options);
  EXPECT_EQ(found.selected, std::vector<Index>{1});
  EXPECT_EQ(found.rounds.front().largest, 0);
}

TEST(Entering, OptionsOfSelections) {
  Dataset data;
  data.problem = problem_of("gaussian", 50, 6, 1, 59);
  data.task = "gaussian";
  for (Index j = 0; j < 6; ++j) data.features.push_back("x" + std::to_string(j));
  data.outputs = {"y"};
  data.targets = {"y"};
  SelectOptions options;
  options.method = "group-lasso";
  options.group_size = 6;
  options.lambda = "0.2tau";
  options.singles = 0.8;
  options.mix = 0.9;
  const Selection found = select(data, options, nullptr);
  const Matrix b = found.solution.coefficients(found.problem.groups);
  EXPECT_GT((b.array() != 0).count(), 0);
  EXPECT_LT((b.array() != 0).count(), 6);
  const test::TempFolder folder;
  write_model(folder / "m.json", model_of(data, found, "group-lasso", false));
  const LinearModel model = read_model(folder / "m.json");
  EXPECT_EQ(model.singles, 0.8);
  EXPECT_EQ(model.mix, 0.9);
  EXPECT_EQ(to_index(model.columns.size()), (b.array() != 0).count());
  options.method = "q-log";
  EXPECT_THROW(select(data, options, nullptr), Error);
  SelectOptions pursuit;
  pursuit.method = "ompr";
  pursuit.k = 2;
  pursuit.q = "q-pow:0.5";
  EXPECT_EQ(select(data, pursuit, nullptr).selected.size(), 2U);
  pursuit.q = "iht";
  EXPECT_THROW(select(data, pursuit, nullptr), Error);
}

}  // namespace
}  // namespace hewn::convex
