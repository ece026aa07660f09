// Designs, groups and losses.
#include <gtest/gtest.h>

#include "hewn/convex/design/centred.h"
#include "hewn/convex/linalg/kept_factor.h"
#include "hewn/convex/linalg/products.h"
#include "hewn/convex/path.h"
#include "hewn/core/error.h"
#include "tests/convex/support.h"

namespace hewn::convex {
namespace {

void expect_same(const Design& design, const Matrix& x) {
  const Index n = x.rows();
  const double size = static_cast<double>(n);
  const Matrix v = normal(n, 3, 1);
  const Vector w = normal(n, 1, 2).cwiseAbs();
  const std::vector<int> features = {1, 4, 2};
  const Matrix own = x(Eigen::all, features);
  Matrix out(3, 3);
  design.transpose_times(features, v, out);
  EXPECT_LT((out - own.transpose() * v).norm(), 1e-12 * size);
  Matrix all(x.cols(), 3);
  design.transpose_times(v, all);
  EXPECT_LT((all - x.transpose() * v).norm(), 1e-12 * size);
  Matrix sum = v;
  design.add_times(features, out, sum);
  EXPECT_LT((sum - v - own * out).norm(), 1e-10 * size);
  Matrix gram(3, 3);
  design.gram(features, features, w, gram);
  EXPECT_LT((gram - own.transpose() * w.asDiagonal() * own).norm(), 1e-12 * size);
  Vector first;
  Vector spread;
  design.moments(w, first, spread);
  EXPECT_LT((first - x.transpose() * w).norm(), 1e-12 * size);
  const Centred centred(design, Vector::Constant(x.cols(), 2), w / w.sum(), true);
  const Matrix dense = 2 * (x.rowwise() - (w.transpose() * x) / w.sum());
  EXPECT_LT((spread - 0.25 * (dense.array().square().matrix().transpose() * w)).norm(), 1e-11 * size);
  centred.transpose_times(features, v, v.colwise().sum(), out);
  EXPECT_LT((out - dense(Eigen::all, features).transpose() * v).norm(), 1e-11 * size);
  centred.gram(features, features, gram);
  EXPECT_LT((gram - dense(Eigen::all, features).transpose() * (w / w.sum()).asDiagonal() *
                        dense(Eigen::all, features))
                .norm(),
            1e-11 * size);
}

TEST(Design, AllFormsAreTheSameMatrix) {
  for (const Index n : {1, 7, 64, 1500}) {
    Matrix x = normal(n, 6, 3);
    expect_same(*dense_design(x), x);
    Matrix padded(n + 3, 6);
    padded.topRows(n) = x;
    expect_same(*dense_view(padded.data(), n, 6, n + 3), x);
    SparseColumns columns;
    columns.row_count = n;
    for (Index j = 0; j < 6; ++j) {
      for (Index i = 0; i < n; ++i) {
        if ((i * 7 + j) % 3 != 0) x(i, j) = 0;
        if (x(i, j) == 0) continue;
        columns.rows.push_back(static_cast<int>(i));
        columns.values.push_back(x(i, j));
      }
      columns.start.push_back(to_index(columns.rows.size()));
    }
    expect_same(*sparse_design(columns), x);
    std::vector<std::vector<int>> codes(2, std::vector<int>(to_size(n)));
    Matrix hot = Matrix::Zero(n, 7);
    for (Index i = 0; i < n; ++i) {
      codes[0][to_size(i)] = static_cast<int>(i % 3);
      codes[1][to_size(i)] = static_cast<int>((i * i) % 4);
      hot(i, i % 3) = 1;
      hot(i, 3 + (i * i) % 4) = 1;
    }
    expect_same(*one_hot_design(codes, {3, 4}), hot);
    Matrix both(n, 13);
    both << x, hot;
    expect_same(*joined_design(dense_design(x), one_hot_design(codes, {3, 4})), both);
  }
}

TEST(Design, SquaresOfManyColumns) {
  for (const Index n : {1, 7, 128, 300}) {
    for (const Index p : {1, 8, 29}) {
      const Matrix x = normal(n, p, 5);
      const Vector w = normal(n, 1, 6).cwiseAbs();
      std::vector<int> features;
      for (Index j = p - 1; j >= 0; --j) features.push_back(static_cast<int>(j));
      Matrix found(p, p);
      dense_design(x)->gram(features, features, w, found);
      const Matrix expected = x.rowwise().reverse().transpose() * w.asDiagonal() * x.rowwise().reverse();
      EXPECT_LE((found - expected).norm(), 1e-13 * expected.norm()) << n << ' ' << p;
    }
  }
}

TEST(KeptFactor, SolvesLikeAFactorOfItsOwn) {
  const Matrix x = normal(90, 40, 7);
  const Matrix inner = x.transpose() * x;
  KeptFactor factor;
  std::vector<Index> columns;
  const Matrix dice = normal(60, 40, 8);
  for (Index round = 0; round < 60; ++round) {  // few columns change in most rounds, many in some
    const double limit = round % 10 == 0 ? 0 : 2;
    for (Index j = 0; j < 40; ++j) {
      if (std::abs(dice(round, j)) < limit) continue;
      if (std::erase(columns, j) == 0) columns.push_back(j);
    }
    const double plus = round < 30 ? 0 : 0.5;
    ASSERT_TRUE(factor.follow(inner, 2, plus, columns));
    const Matrix own = 2 * inner(columns, columns) +
                       plus * Matrix::Identity(to_index(columns.size()), to_index(columns.size()));
    const Vector b = normal(to_index(columns.size()), 1, 9);
    EXPECT_LE((own * factor.solve(b) - b).norm(), 1e-11 * b.norm()) << round;
  }
  Matrix twice = inner;
  twice.row(1) = twice.row(0);
  twice.col(1) = twice.col(0);
  EXPECT_FALSE(KeptFactor().follow(twice, 1, 0, {0, 3, 1}));
  EXPECT_TRUE(KeptFactor().follow(twice, 1, 0, {0, 3}));
}

TEST(Design, BadFormsAreRefused) {
  EXPECT_THROW(sparse_design({2, {0, 1}, {2}, {1.0}}), Error);
  EXPECT_THROW(sparse_design({2, {0, 2}, {1, 0}, {1.0, 1.0}}), Error);
  EXPECT_THROW(sparse_design({2, {0, 5}, {1}, {1.0}}), Error);
  EXPECT_THROW(one_hot_design({{0, 3}}, {3}), Error);
}

TEST(Design, PathsDoNotDependOnTheForm) {
  Problem problem = problem_of("gaussian", 50, 12, 1, 5);
  Matrix x = correlated(50, 12, 5);
  x = (x.array().abs() > 0.8).select(x, 0);
  SparseColumns columns;
  columns.row_count = 50;
  for (Index j = 0; j < 12; ++j) {
    for (Index i = 0; i < 50; ++i) {
      if (x(i, j) == 0) continue;
      columns.rows.push_back(static_cast<int>(i));
      columns.values.push_back(x(i, j));
    }
    columns.start.push_back(to_index(columns.rows.size()));
  }
  problem.standardise = true;
  Options options;
  options.tolerance = 1e-10;
  problem.x = dense_design(x);
  const Solution dense = solve(problem, Penalty(), 0.1, options);
  problem.x = sparse_design(columns);
  const Solution sparse = solve(problem, Penalty(), 0.1, options);
  EXPECT_EQ(dense.support, sparse.support);
  EXPECT_NEAR(dense.objective, sparse.objective, 1e-10);
}

TEST(Groups, PartitionsAreChecked) {
  EXPECT_THROW(Groups::lists(2, 2, {{0, 1}, {2}}), Error);
  EXPECT_THROW(Groups::lists(2, 2, {{0, 1}, {1, 2, 3}}), Error);
  EXPECT_THROW(Groups::lists(2, 2, {{0, 1, 4}, {2, 3}}), Error);
  EXPECT_THROW(Groups::lists(2, 2, {{0, 1, 2, 3}, {}}), Error);
  Groups groups = Groups::features(3, 2);
  EXPECT_THROW(groups.set_weights(Vector::Ones(2)), Error);
  EXPECT_THROW(groups.set_weights(-Vector::Ones(3)), Error);
}

TEST(Groups, SpreadUndoesCollect) {
  const Matrix m = normal(5, 4, 3);
  for (const Groups& groups :
       {Groups::features(5, 4), Groups::sizes({2, 3}, 4), Groups::labels({"a", "b", "a", "c", "b"}, 4),
        Groups::blocks(5, 4, 2, 3),
        Groups::lists(5, 4, {{0, 5, 10, 15, 19}, {1, 2, 3, 4, 6, 7}, {8, 9, 11, 12, 13, 14, 16, 17, 18}})}) {
    EXPECT_EQ(groups.spread(groups.collect(m)), m);
    EXPECT_NEAR(groups.norms(m).squaredNorm(), m.squaredNorm(), 1e-12);
  }
}

TEST(Groups, ScatteredPartitionsSolveLikeAnyOther) {
  // The same partition as lists of entries and as labels.
  Problem problem = problem_of("multinomial", 60, 6, 3, 8);
  problem.groups = Groups::labels({"a", "b", "a", "c", "b", "c"}, 3);
  Options options;
  options.tolerance = 1e-9;
  const Solution labels = solve(problem, Penalty(), 0.02, options);
  problem.groups = Groups::lists(6, 3, {{0, 1, 2, 6, 7, 8}, {3, 4, 5, 12, 13, 14}, {9, 10, 11, 15, 16, 17}});
  const Solution lists = solve(problem, Penalty(), 0.02, options);
  EXPECT_NEAR(labels.objective, lists.objective, 1e-9);
  problem.groups = Groups::lists(6, 3, {{0, 4, 8, 9, 13}, {1, 2, 3, 5, 6, 7}, {10, 11, 12, 14, 15, 16, 17}});
  const Solution ragged = solve(problem, Penalty(), 0.02, options);
  EXPECT_TRUE(ragged.converged);
  EXPECT_EQ(ragged.certificate.verdict, Verdict::kCertified);
}

TEST(Loss, ResidualIsMinusTheDerivative) {
  for (const auto& row : losses()) {
    const std::string name(row.name);
    const Index outputs = name == "gaussian" || name == "multinomial" ? 3 : 1;
    const Loss& loss = row.get();
    const Matrix y = responses(name, normal(9, 5, 1), outputs, 2);
    loss.check(y);
    const Vector w = normal(9, 1, 4).cwiseAbs();
    Matrix eta = normal(9, outputs, 3);
    Matrix residual;
    Matrix scratch;
    loss.value(eta, y, w, residual);
    for (Index i = 0; i < eta.size(); ++i) {
      const double keep = eta.data()[i];
      eta.data()[i] = keep + 1e-5;
      const double up = loss.value(eta, y, w, scratch);
      eta.data()[i] = keep - 1e-5;
      const double down = loss.value(eta, y, w, scratch);
      eta.data()[i] = keep;
      EXPECT_NEAR((up - down) / 2e-5, -w[i % 9] * residual.data()[i], 1e-8) << name;
    }
  }
}

TEST(Loss, ResponsesAreChecked) {
  EXPECT_THROW(find_loss("binomial").check((Matrix(2, 1) << 0, 2).finished()), Error);
  EXPECT_THROW(find_loss("poisson").check((Matrix(2, 1) << 0, -1).finished()), Error);
  EXPECT_THROW(find_loss("multinomial").check((Matrix(1, 2) << 1, 1).finished()), Error);
  EXPECT_THROW(find_loss("gaussian").check(Matrix::Constant(1, 1, NAN)), Error);
  EXPECT_THROW(find_loss("logistic"), Error);
}

}  // namespace
}  // namespace hewn::convex
