// Inputs that once gave a wrong answer without a word.
#include <gtest/gtest.h>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "hewn/convex/fit/composed.h"
#include "hewn/convex/select.h"
#include "hewn/convex/solver/subset.h"
#include "hewn/core/error.h"
#include "tests/convex/support.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::convex {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

/// A problem as read from a file: named columns, groups of one feature.
Dataset dataset_of(Problem problem) {
  Dataset out;
  out.task = "gaussian";
  for (Index j = 0; j < problem.x->cols(); ++j) out.features.push_back(str("x", j));
  for (Index k = 0; k < problem.y.cols(); ++k) out.outputs.push_back(str("y", k));
  out.problem = std::move(problem);
  return out;
}

/// Six features; the response is 2 x1 - x3 and noise, all of it in other units.
Dataset planted(double x_unit, double y_unit) {
  Matrix x = normal(40, 6, 3);
  Matrix y = 2 * x.col(1) - x.col(3) + 0.1 * normal(40, 1, 4);
  Problem problem;
  problem.y = y_unit * y;
  problem.x = dense_design(x_unit * x);
  problem.loss = &find_loss("gaussian");
  problem.groups = Groups::features(6, 1);
  return dataset_of(std::move(problem));
}

TEST(Trust, OneBadCellOfATargetIsNamed) {
  const TempFolder folder;
  std::string text = "a,y\n";
  for (int i = 0; i < 40; ++i) text += str(i * 7 % 11, ",", i == 7 ? "1.2x" : str(i * 0.5), "\n");
  write_text(folder / "a.csv", text);
  const std::string said = message_of([&] { read_dataset(folder / "a.csv", {}); });
  EXPECT_NE(said.find("row 8, column \"y\": \"1.2x\" is not a number"), std::string::npos) << said;
  DatasetOptions options;
  options.task = "multinomial";
  EXPECT_EQ(read_dataset(folder / "a.csv", options).outputs.size(), 40U);
  // Text throughout needs no word.
  write_text(folder / "b.csv", "a,y\n1,low\n2,high\n3,low\n");
  EXPECT_EQ(read_dataset(folder / "b.csv", {}).task, "binomial");
}

TEST(Trust, HardThresholdingDoesNotDependOnUnits) {
  for (const double x_unit : {1e-8, 1.0, 3e6, 1e9}) {
    SelectOptions options;
    options.method = "iht";
    options.k = 2;
    const Selection found = select(planted(x_unit, 1), options, nullptr);
    EXPECT_EQ(found.selected, (std::vector<Index>{1, 3})) << x_unit;
  }
}

/// The least mean squared error with an intercept, halved, by an orthogonal factorisation.
double qr_loss(const Matrix& x, const Vector& y) {
  Matrix a(x.rows(), x.cols() + 1);
  a << x, Vector::Ones(x.rows());
  const Vector rest = y - a * a.colPivHouseholderQr().solve(y);
  return 0.5 * rest.squaredNorm() / static_cast<double>(y.size());
}

TEST(Trust, NearlyDependentColumnsAreFittedToTheEnd) {
  for (const double distance : {1e-6, 1e-7, 1e-8, 1e-9}) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      Matrix x = normal(50, 4, 60 + seed);
      x.col(3) = x.col(0) + distance * x.col(3);
      // What tells the two apart carries the response.
      const Vector y = (x.col(3) - x.col(0)) / distance + 0.01 * normal(50, 1, 70 + seed).col(0) + x.col(1);
      Problem problem;
      problem.y = y;
      problem.x = dense_design(x);
      problem.loss = &find_loss("gaussian");
      problem.groups = Groups::features(4, 1);
      SelectOptions options;
      options.k = 4;
      const Selection found = select(dataset_of(problem), options, nullptr);
      const double best = qr_loss(x, y);
      const double above = found.solution.loss / best - 1;
      if (found.solution.certificate.verdict == Verdict::kCertified) {
        EXPECT_LE(found.solution.loss, best + kCertifiedGap * found.null_loss) << distance;
      }
      EXPECT_LE(above, 1e-4) << distance << ' ' << seed;
    }
  }
}

TEST(Trust, ConstantFeaturesAreNoSelection) {
  Problem problem;
  problem.y = normal(40, 1, 1);
  problem.x = dense_design(Matrix(Matrix::Constant(40, 6, 3.1)));
  problem.loss = &find_loss("gaussian");
  problem.groups = Groups::features(6, 1);
  for (const char* method : {"omp", "iht", "group-lasso", "l23"}) {
    SelectOptions options;
    options.method = method;
    const std::string said = message_of([&] { select(dataset_of(problem), options, nullptr); });
    EXPECT_NE(said.find("every feature is constant"), std::string::npos) << method << said;
  }
  SelectOptions options;
  options.intercept = false;
  options.k = 1;
  EXPECT_EQ(select(dataset_of(problem), options, nullptr).selected.size(), 1U);
}

TEST(Trust, ValuesThatOverflowAreRefused) {
  const TempFolder folder;
  const auto table = [](const char* x, const char* y) {
    std::string text = "a,b,y\n";
    for (int i = 0; i < 9; ++i) text += str(i * 5 % 7, x, ",", i * 3 % 8, ",", i, y, "\n");
    return text;
  };
  for (const char* unit : {"e150", "e-150", "e300", "e-300", "e80", "e-80"}) {
    write_text(folder / "a.csv", table(unit, ""));
    EXPECT_NE(message_of([&] { read_dataset(folder / "a.csv", {}); }).find("column \"a\""),
              std::string::npos);
    write_text(folder / "a.csv", table("", unit));
    EXPECT_NE(message_of([&] { read_dataset(folder / "a.csv", {}); }).find("column \"y\""),
              std::string::npos);
  }
  EXPECT_THROW(select(planted(1e160, 1), {}, nullptr), Error);
}

TEST(Trust, AnswersDoNotDependOnUnits) {
  for (const char* method : {"omp", "ompr", "iht", "seq-lasso", "group-lasso", "q-pow:0.5", "q-log",
                             "sum-log", "sum-pow:0.5", "l23", "lambert", "mask-l1"}) {
    for (const double x_unit : {1e-60, 1e-10, 1e10, 1e60}) {
      for (const double y_unit : {1e-60, 1e10, 1e60}) {
        SelectOptions options;
        options.method = method;
        options.k = 2;
        const Selection one = select(planted(1, 1), options, nullptr);
        const Selection other = select(planted(x_unit, y_unit), options, nullptr);
        EXPECT_EQ(one.selected, other.selected) << method << ' ' << x_unit << ' ' << y_unit;
        EXPECT_EQ(one.solution.certificate.verdict, other.solution.certificate.verdict) << method;
        const Matrix a = one.solution.coefficients(one.problem.groups);
        const Matrix b = other.solution.coefficients(other.problem.groups) * (x_unit / y_unit);
        EXPECT_LE((a - b).norm(), 1e-6 * a.norm()) << method << ' ' << x_unit << ' ' << y_unit;
      }
    }
  }
}

TEST(Trust, WhatIsReportedBelongsToTheSelectedGroups) {
  for (const MethodRow& row : methods()) {
    for (Index k = 1; k <= 3; ++k) {
      for (const char* lambda : {"", "0.05tau"}) {
        SelectOptions options;
        options.method = row.name;
        options.k = k;
        const bool subset =
            row.name == "omp" || row.name == "ompr" || row.name == "iht" || row.name == "seq-lasso";
        if (!subset) options.lambda = lambda;
        const Selection found = select(planted(1, 1), options, nullptr);
        std::vector<Index> sorted = found.selected;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(sorted, found.solution.support) << row.name << ' ' << k << lambda;
        EXPECT_LE(found.selected.size(), static_cast<std::size_t>(k)) << row.name;
        EXPECT_TRUE(found.solution.converged) << row.name << ' ' << k << lambda;
        // The loss is that of these coefficients.
        Matrix eta = Matrix::Constant(40, 1, found.solution.intercept[0]);
        const Matrix b = found.solution.coefficients(found.problem.groups);
        found.problem.x->add_times(std::vector<int>{0, 1, 2, 3, 4, 5}, b, eta);
        EXPECT_NEAR((found.problem.y - eta).squaredNorm() / 80, found.solution.loss, 1e-9) << row.name;
      }
    }
  }
}

TEST(Trust, CrossValidationMayChooseNothing) {
  Problem problem = problem_of("gaussian", 60, 8, 1, 5);
  problem.y = normal(60, 1, 99);  // noise
  for (const char* method : {"omp", "ompr", "iht", "seq-lasso"}) {
    SelectOptions options;
    options.method = method;
    options.k = 5;
    options.cv = 5;
    const Selection found = select(dataset_of(problem), options, nullptr);
    EXPECT_EQ(found.selected.size(), found.cv->one_se) << method;
    EXPECT_EQ(found.cv->one_se, 0U) << method;
    EXPECT_EQ(found.solution.loss, found.null_loss) << method;
  }
}

TEST(Trust, OptionsThatMeanNothingAreErrors) {
  const Dataset data = planted(1, 1);
  const auto refused = [&](const char* method, const std::function<void(SelectOptions&)>& change) {
    SelectOptions options;
    options.method = method;
    change(options);
    return message_of([&] { select(data, options, nullptr); });
  };
  for (const char* method : {"omp", "iht", "seq-lasso", "group-lasso", "l23"}) {
    EXPECT_NE(refused(method, [](auto& o) { o.literal = true; }).find("literal: applies"), std::string::npos);
    EXPECT_NE(refused(method, [](auto& o) { o.kprime = 3; }).find("kprime: applies"), std::string::npos);
  }
  for (const char* method : {"omp", "ompr", "group-lasso"})
    EXPECT_NE(refused(method, [](auto& o) { o.epsilon = 0.5; }).find("epsilon: applies"), std::string::npos);
  for (const char* method : {"iht", "seq-lasso", "q-log"})
    EXPECT_NE(refused(method, [](auto& o) { o.score = "curvature"; }).find("score: applies"),
              std::string::npos);
  EXPECT_NE(refused("omp", [](auto& o) { o.min_ratio = 0.5; }).find("min-ratio: applies"), std::string::npos);
  EXPECT_NE(refused("l23", [](auto& o) { o.unit = 2; }).find("unit: applies"), std::string::npos);
  EXPECT_NE(refused("group-lasso", [](auto& o) { o.path = -5; }).find("path: expected"), std::string::npos);
  EXPECT_NE(refused("group-lasso", [](auto& o) { o.cv = -3; }).find("cv: expected"), std::string::npos);
  EXPECT_NE(refused("omp", [](auto& o) { o.cv = 1; }).find("cv: expected"), std::string::npos);
  EXPECT_NE(refused("ompr", [](auto& o) { o.kprime = -1; }).find("kprime: expected"), std::string::npos);
}

TEST(Trust, LocalMinimaAreLeftForBetterOnes) {
  // Random small problems against the best of all sets of groups, each fitted from its own least squares.
  int reached = 0;
  int all = 0;
  for (const char* loss : {"gaussian", "multinomial", "binomial"}) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      const Index outputs = std::string(loss) == "multinomial" ? 3 : 1;
      Problem problem = problem_of(loss, 50, 5, outputs, 500 + seed);
      const Penalty penalty(Form::kSum, "l23");
      Options options;
      options.tolerance = 1e-7;
      const double tau = Follower(problem, penalty, options).tau();
      for (const double share : {0.6, 0.3, 0.1}) {
        const double lambda = share * tau;
        double best = std::numeric_limits<double>::infinity();
        Problem stiff = problem;
        stiff.ridge = 1e-3;
        Subsets subsets(stiff);
        for (int set = 0; set < 32; ++set) {
          std::vector<Index> groups;
          for (Index g = 0; g < 5; ++g) {
            if ((set >> g) % 2 == 1) groups.push_back(g);
          }
          const SubsetFit fit = subsets.fit(groups, nullptr, 1e-10);
          Vector start = Vector::Zero(problem.groups.total());
          for (std::size_t i = 0; i < groups.size(); ++i)
            start.segment(groups[i] * outputs, outputs) = fit.values.segment(to_index(i) * outputs, outputs);
          Fitter fitter(problem, penalty, options);
          fitter.start_from(start);
          best = std::min(best, fitter.fit(lambda).objective);
        }
        ++all;
        reached += solve(problem, penalty, lambda, options).objective <= best * (1 + 1e-6) ? 1 : 0;
      }
    }
  }
  EXPECT_GE(reached, 0.95 * all) << reached << " of " << all;
}

TEST(Trust, BlocksJustBelowTheirThresholdSettle) {
  // One feature whose gradient is hardly above lambda: its best value is tiny, and no slow iteration finds
  // it.
  for (const double above : {1e-3, 1e-6, 1e-8}) {
    for (const char* name : {"log", "power:0.5", "l23"}) {
      Problem problem;
      problem.x = dense_design((Matrix(4, 1) << 1, -1, 1, -1).finished());
      problem.y = (Matrix(4, 1) << 0.5, -0.5, 0.5, -0.5).finished();
      problem.loss = &find_loss("gaussian");
      problem.groups = Groups::features(1, 1);
      const Penalty penalty(Form::kSum, name);
      Options options;
      options.max_sweeps = 50;
      options.tolerance = 1e-12;
      const double tau = Follower(problem, penalty, options).tau();
      const Solution found = solve(problem, penalty, tau * (1 - above), options);
      EXPECT_TRUE(found.converged) << name << ' ' << above;
      EXPECT_EQ(found.support.size(), 1U) << name << ' ' << above;
    }
  }
}

}  // namespace
}  // namespace hewn::convex
