// From a table to a model, and from the model to predictions.
#include "hewn/convex/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "hewn/convex/criterion.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "tests/convex/support.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::convex {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

/// Rows of x0 .. x4, a colour, and responses of every task.
std::string table_of(Index rows, uint64_t seed, bool with_responses) {
  const Matrix x = normal(rows, 5, seed);
  const Matrix noise = normal(rows, 1, seed + 1);
  std::ostringstream out;
  out.precision(17);
  out << "x0,x1,x2,x3,x4,colour" << (with_responses ? ",number,two,three,count,time,event" : "") << '\n';
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 5; ++j) out << x(i, j) << ',';
    out << (i % 3 == 0 ? "red" : i % 3 == 1 ? "green" : "blue");
    const double eta = x(i, 0) - x(i, 3) + 0.3 * noise(i, 0);
    if (with_responses) {
      out << ',' << eta + (i % 3 == 1 ? 2 : 0) << ',' << (eta > 0 ? "yes" : "no") << ','
          << (eta > 0.7    ? "high"
              : eta > -0.7 ? "middle"
                           : "low")
          << ',' << std::floor(std::exp(0.7 * eta)) << ',' << std::exp(-eta) << ',' << (i % 4 == 0 ? 0 : 1);
    }
    out << '\n';
  }
  return out.str();
}

struct Task {
  const char* task;
  const char* target;
};
constexpr Task kTasks[] = {{"gaussian", "number"},
                           {"binomial", "two"},
                           {"multinomial", "three"},
                           {"poisson", "count"},
                           {"cox", "time"}};

DatasetOptions reading(const Task& task) {
  DatasetOptions out;
  out.task = task.task;
  out.targets = {task.target};
  out.categories = {"colour"};
  if (std::string(task.task) == "cox") out.event = "event";
  for (const char* other : {"number", "two", "three", "count", "time", "event"}) {
    if (other != std::string(task.target) && other != out.event) out.ignore.emplace_back(other);
  }
  return out;
}

TEST(Model, PredictsWhatTheFitSays) {
  const TempFolder folder;
  write_text(folder / "a.csv", table_of(80, 5, true));
  for (const Task& task : kTasks) {
    for (const char* method : {"omp", "group-lasso"}) {
      const Dataset data = read_dataset(folder / "a.csv", reading(task));
      SelectOptions options;
      options.method = method;
      options.k = 3;
      options.standardise = true;
      const Selection found = select(data, options, nullptr);
      write_model(folder / "m.json", model_of(data, found, method, false));
      const LinearModel model = read_model(folder / "m.json");
      const LinearPredictions out = predict(model, folder / "a.csv", {});
      // The loss of these predictions is that of the fit, up to the constant that hazards do not have.
      Matrix residual;
      const double loss =
          data.problem.loss->value(out.eta, data.problem.y, Vector::Constant(80, 1.0 / 80), residual);
      EXPECT_NEAR(loss, found.solution.loss, 1e-9 * (1 + std::abs(loss))) << task.task << ' ' << method;
      if (has_classes(*data.problem.loss)) {
        EXPECT_EQ(out.names, data.classes);
        EXPECT_NEAR((out.mean.rowwise().sum().array() - 1).abs().maxCoeff(), 0, 1e-12);
        int right = 0;
        for (Index i = 0; i < 80; ++i)
          right += out.classes[to_size(i)] == data.classes[to_size(class_of(data.problem.y, i))];
        EXPECT_GT(right, 56) << task.task;
      }
    }
  }
}

TEST(Model, ColumnsAreFoundByName) {
  const TempFolder folder;
  write_text(folder / "a.csv", table_of(80, 5, true));
  const Dataset data = read_dataset(folder / "a.csv", reading(kTasks[0]));
  SelectOptions options;
  options.k = 3;
  const LinearModel model = model_of(data, select(data, options, nullptr), "omp", false);
  EXPECT_EQ(model.selected.size(), 3U);
  // Another order, columns that nobody asked for, and no target.
  write_text(folder / "b.csv", "x3,junk,colour,x0\n0,?,red,1\n1,hello,green,0\n");
  const LinearPredictions out = predict(model, folder / "b.csv", {});
  EXPECT_NEAR(out.mean(0, 0), 1, 0.3);
  EXPECT_NEAR(out.mean(1, 0), 1, 0.3);
  write_text(folder / "c.csv", "x3,x1\n0,1\n");
  const std::string said = message_of([&] { predict(model, folder / "c.csv", {}); });
  EXPECT_NE(said.find("has no column \"colour\", \"x0\", which the model needs"), std::string::npos) << said;
  write_text(folder / "d.csv", "x3,colour,x0\n0,pink,1\n");
  EXPECT_NE(message_of([&] { predict(model, folder / "d.csv", {}); }).find("\"pink\" is none of"),
            std::string::npos);
  write_text(folder / "e.csv", "x3,colour,x0\n,red,1\n");
  EXPECT_NE(message_of([&] { predict(model, folder / "e.csv", {}); }).find("line 2, column \"x3\""),
            std::string::npos);
}

TEST(Model, MissingNumbersGetTheMeanOfTheFit) {
  const TempFolder folder;
  write_text(folder / "a.csv", "a,b,y\n1,2,1\n2,,2\n3,4,3\n,6,4\n5,1,5\n");
  DatasetOptions options;
  options.impute_mean = true;
  const Dataset data = read_dataset(folder / "a.csv", options);
  SelectOptions all;
  all.k = 2;
  const LinearModel model = model_of(data, select(data, all, nullptr), "omp", false);
  write_text(folder / "b.csv", "a,b\n,4\n2.75,4\n");
  const LinearPredictions out = predict(model, folder / "b.csv", {});
  EXPECT_NEAR(out.mean(0, 0), out.mean(1, 0), 1e-12);
}

TEST(Model, WholePathsAreKept) {
  const TempFolder folder;
  write_text(folder / "a.csv", table_of(80, 5, true));
  const Dataset data = read_dataset(folder / "a.csv", reading(kTasks[0]));
  SelectOptions options;
  options.method = "group-lasso";
  options.path = 12;
  const Selection found = select(data, options, nullptr);
  write_model(folder / "m.json", model_of(data, found, "group-lasso", true));
  const LinearModel model = read_model(folder / "m.json");
  ASSERT_EQ(model.path.size(), 12U);
  EXPECT_EQ(model.path.back().lambda, model.lambda);
  EXPECT_EQ(model.path.back().intercept, model.intercept);
  EXPECT_EQ(model.path.front().slopes.norm(), 0);
  write_text(folder / "x.json", "{\"hewn\": \"select\", \"version\": 7}");
  EXPECT_THROW(read_model(folder / "x.json"), FormatError);
  write_text(folder / "x.json", "{\"hewn\": \"select\", \"version\": 1, \"task\": \"gaussian\"}");
  EXPECT_THROW(read_model(folder / "x.json"), FormatError);
}

TEST(Model, FoldsRulesAndMeasures) {
  const TempFolder folder;
  write_text(folder / "a.csv", table_of(90, 7, true));
  Dataset data = read_dataset(folder / "a.csv", reading(kTasks[1]));
  SelectOptions options;
  options.method = "group-lasso";
  options.path = 20;
  options.cv = 3;
  for (const char* name : {"loss", "deviance", "accuracy", "auc"}) {
    options.measure = name;
    options.cv_rule = "one-se";
    const Selection sparse = select(data, options, nullptr);
    options.cv_rule = "min";
    const Selection best = select(data, options, nullptr);
    EXPECT_EQ(best.chosen, best.cv->best) << name;
    EXPECT_LE(sparse.chosen, best.chosen) << name;
    const bool larger = std::string(name) == "accuracy" || std::string(name) == "auc";
    for (const double value : best.cv->mean) {
      EXPECT_LE(larger ? value : -value, larger ? best.cv->mean[best.chosen] : -best.cv->mean[best.chosen])
          << name;
    }
  }
  // Own folds: the same as those of the seed where they are the same.
  options = {};
  options.method = "group-lasso";
  options.path = 20;
  for (int i = 0; i < 90; ++i) data.folds.push_back(i % 3);
  const Selection own = select(data, options, nullptr);
  EXPECT_EQ(own.cv->mean.size(), 20U);
  options.cv = 3;
  EXPECT_THROW(select(data, options, nullptr), Error);
  options.cv = 0;
  options.measure = "accuracy";
  data = read_dataset(folder / "a.csv", reading(kTasks[0]));
  EXPECT_THROW(select(data, options, nullptr), Error);
}

TEST(Model, EveryClassIsInEveryFold) {
  // Six of one class among 60: by chance a fold would often have none, and a rest without it cannot be
  // fitted.
  Problem problem = problem_of("binomial", 60, 4, 1, 3);
  for (Index i = 0; i < 60; ++i) problem.y(i, 0) = i < 6 ? 1 : 0;
  CrossValidationOptions cv;
  cv.folds = 6;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    cv.seed = seed;
    // Nothing is selected at this lambda: the loss is that of the share of the class, which is the same in
    // all folds.
    PathOptions one;
    one.lambdas = {10};
    const Path path = solve_path(problem, Penalty(), {}, one);
    const CrossValidation found = cross_validate(problem, Penalty(), {}, path, cv);
    EXPECT_LT(found.error[0], 1e-9) << seed;
  }
}

TEST(Model, CriteriaFindThePlantedSize) {
  Problem problem = problem_of("gaussian", 200, 30, 1, 3);
  Matrix x = correlated(200, 30, 3);
  problem.y = 2 * x.col(4) - x.col(9) + x.col(20) + 0.3 * normal(200, 1, 4);
  Dataset data;
  data.task = "gaussian";
  for (int j = 0; j < 30; ++j) data.features.push_back(str("x", j));
  data.outputs = {"y"};
  data.problem = problem;
  for (const char* name : {"ebic", "gic", "bic"}) {
    for (const char* method : {"omp", "ompr", "iht"}) {
      SelectOptions options;
      options.method = method;
      options.criterion = name;
      options.k = 8;
      const Selection found = select(data, options, nullptr);
      EXPECT_EQ(found.criterion.size(), 9U);
      EXPECT_EQ(found.selected.size(), 3U) << name << ' ' << method;
    }
  }
  SelectOptions options;
  options.method = "l23";
  options.criterion = "ebic";
  EXPECT_EQ(select(data, options, nullptr).selected.size(), 3U);
  options.criterion = "cp";
  EXPECT_THROW(select(data, options, nullptr), Error);
}

TEST(Model, KeptGroupsAndFactors) {
  const TempFolder folder;
  write_text(folder / "a.csv", table_of(80, 5, true));
  const Dataset data = read_dataset(folder / "a.csv", reading(kTasks[0]));
  SelectOptions options;
  options.method = "group-lasso";
  options.k = 1;
  options.keep = {"x2"};
  const Selection found = select(data, options, nullptr);
  EXPECT_EQ(found.selected.size(), 1U);
  EXPECT_EQ(found.solution.support.size(), 2U);
  EXPECT_NE(std::find(found.solution.support.begin(), found.solution.support.end(), 2),
            found.solution.support.end());
  options.keep = {"x9"};
  EXPECT_THROW(select(data, options, nullptr), Error);
  // A factor of 100 keeps the best group out.
  options.keep.clear();
  const Index first = select(data, options, nullptr).selected.at(0);
  write_text(folder / "f.txt", select(data, options, nullptr).group_names[to_size(first)] + ",100\n");
  options.penalty_factors = folder / "f.txt";
  EXPECT_NE(select(data, options, nullptr).selected.at(0), first);
  write_text(folder / "f.txt", "x0,-1\n");
  EXPECT_THROW(select(data, options, nullptr), FormatError);
}

TEST(Model, ElasticNetIsARidgeThatFollowsLambda) {
  const Problem problem = problem_of("binomial", 80, 10, 1, 6);
  Options mixed;
  mixed.mix = 0.3;
  mixed.tolerance = 1e-9;
  Problem fixed = problem;
  fixed.ridge = 0.7 * 0.04;
  Options plain;
  plain.tolerance = 1e-9;
  const Solution a = solve(problem, Penalty(), 0.04, mixed);
  const Solution b = solve(fixed, Penalty(), 0.3 * 0.04, plain);
  EXPECT_EQ(a.support, b.support);
  EXPECT_NEAR(a.objective, b.objective, 1e-9);
  EXPECT_EQ(a.lambda, 0.04);
  EXPECT_THROW(solve(problem, Penalty(Form::kSum, "log"), 0.04, mixed), Error);
  PathOptions path;
  path.count = 10;
  const Path found = solve_path(problem, Penalty(), mixed, path);
  EXPECT_TRUE(found.solutions.front().support.empty());
  EXPECT_FALSE(found.solutions[1].support.empty());
}

TEST(Model, TwoValuesAreNoted) {
  const TempFolder folder;
  write_text(folder / "a.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n");
  EXPECT_NE(read_dataset(folder / "a.csv", {}).note.find("--task binomial"), std::string::npos);
  DatasetOptions options;
  options.task = "gaussian";
  EXPECT_EQ(read_dataset(folder / "a.csv", options).note, "");
}

}  // namespace
}  // namespace hewn::convex
