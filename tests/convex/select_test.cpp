// From files to selected groups.
#include "hewn/convex/select.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "hewn/convex/path_plot.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/io/npy.h"
#include "tests/convex/support.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::convex {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

/// 60 samples, 5 features; the response is 2 b - d.
std::string sample_csv(bool labels) {
  const Matrix x = normal(60, 5, 1);
  std::ostringstream out;
  out << "a,b,c,d,e,y\n";
  for (Index i = 0; i < 60; ++i) {
    for (Index j = 0; j < 5; ++j) out << x(i, j) << ',';
    const double y = 2 * x(i, 1) - x(i, 3);
    if (labels) {
      out << (y > 0 ? "\"yes, it is\"" : "no") << '\n';
    } else {
      out << y << '\n';
    }
  }
  return out.str();
}

TEST(Select, EveryMethodFindsThePlantedFeatures) {
  const TempFolder folder;
  write_text(folder / "a.csv", sample_csv(false));
  const Dataset data = read_dataset(folder / "a.csv", {});
  EXPECT_EQ(data.task, "gaussian");
  for (const MethodRow& row : methods()) {
    SelectOptions options;
    options.method = row.name;
    options.k = 2;
    options.tolerance = 1e-5;
    if (row.name != "omp" && row.name != "ompr" && row.name != "iht" && row.name != "seq-lasso")
      options.lambda = "0.05tau";
    const Selection found = select(data, options, nullptr);
    std::vector<Index> sorted = found.selected;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, (std::vector<Index>{1, 3})) << row.name;
    EXPECT_EQ(found.selected[0], 1) << row.name;
    EXPECT_EQ(found.losses.size(), 2U) << row.name;
    EXPECT_LE(found.losses[1], found.losses[0] * (1 + 1e-9)) << row.name;
    EXPECT_TRUE(found.solution.converged) << row.name;
  }
}

TEST(Select, LabelsMakeClasses) {
  const TempFolder folder;
  write_text(folder / "a.csv", sample_csv(true));
  const Dataset data = read_dataset(folder / "a.csv", {});
  EXPECT_EQ(data.task, "binomial");
  EXPECT_EQ(data.outputs, std::vector<std::string>{"yes, it is"});
  SelectOptions options;
  options.k = 2;
  options.holdout = 0.25;
  const Selection found = select(data, options, nullptr);
  EXPECT_EQ(found.selected[0], 1);
  EXPECT_EQ(found.problem.ridge, 1e-3);
  EXPECT_GT(found.holdout->accuracy, 0.85);
  DatasetOptions as_numbers;
  as_numbers.task = "gaussian";
  EXPECT_THROW(read_dataset(folder / "a.csv", as_numbers), FormatError);
  as_numbers.task = "multinomial";
  EXPECT_EQ(read_dataset(folder / "a.csv", as_numbers).problem.y.cols(), 2);
}

TEST(Select, GroupsFromFileSizeAndBlock) {
  const TempFolder folder;
  write_text(folder / "a.csv", sample_csv(false));
  write_text(folder / "g.txt", "odd\neven\nodd\neven\nodd\n");
  const Dataset data = read_dataset(folder / "a.csv", {});
  SelectOptions options;
  options.groups = folder / "g.txt";
  options.k = 1;
  Selection found = select(data, options, nullptr);
  EXPECT_EQ(found.selected, std::vector<Index>{1});
  EXPECT_EQ(found.group_names, (std::vector<std::string>{"odd", "even"}));
  EXPECT_LT(found.losses[0], 1e-9);
  options.groups.clear();
  options.group_size = 2;
  EXPECT_EQ(select(data, options, nullptr).problem.groups.count(), 3);
  options.block = "2x2";
  EXPECT_THROW(select(data, options, nullptr), Error);
  options.group_size = 0;
  EXPECT_EQ(select(data, options, nullptr).group_names[1], "c..d");
  write_text(folder / "g.txt", "a\nb\n");
  options.block.clear();
  options.groups = folder / "g.txt";
  EXPECT_NE(message_of([&] { select(data, options, nullptr); }).find("has 2 group labels, expected 5"),
            std::string::npos);
}

TEST(Select, NpyInBothOrdersAndPrecisions) {
  const TempFolder folder;
  const Matrix x = normal(30, 4, 2);
  const Matrix y = x.col(2);
  io::write_npy(folder / "x.npy", 30, 4, x.data());
  io::write_npy(folder / "y.npy", 30, 1, y.data());
  SelectOptions options;
  options.k = 1;
  EXPECT_EQ(select(read_dataset((folder / "x.npy").string() + "," + (folder / "y.npy").string(), {}), options,
                   nullptr)
                .selected[0],
            2);
  DatasetOptions own;
  own.targets = {"1"};
  const Dataset data = read_dataset(folder / "x.npy", own);
  EXPECT_EQ(data.features, (std::vector<std::string>{"0", "2", "3"}));
  EXPECT_EQ(data.problem.y.col(0), x.col(1));
  Matrix bad = x;
  bad(7, 3) = NAN;
  io::write_npy(folder / "x.npy", 30, 4, bad.data());
  const std::string text =
      message_of([&] { read_dataset((folder / "x.npy").string() + "," + (folder / "y.npy").string(), {}); });
  EXPECT_NE(text.find("row 7, column 3"), std::string::npos) << text;
}

TEST(Select, MissingValuesAreNamedOrImputed) {
  const TempFolder folder;
  write_text(folder / "a.csv", "a,b,y\n1,2,1\n2,,2\n3,4,3\n,6,4\n");
  const std::string text = message_of([&] { read_dataset(folder / "a.csv", {}); });
  EXPECT_NE(text.find("line 3, column \"b\": the value is missing (and 1 more)"), std::string::npos) << text;
  DatasetOptions options;
  options.impute_mean = true;
  const Dataset data = read_dataset(folder / "a.csv", options);
  Matrix ones = Matrix::Ones(4, 1);
  Matrix sums(2, 1);
  data.problem.x->transpose_times(ones, sums);
  EXPECT_NEAR(sums(0, 0), 8, 1e-12);
  EXPECT_NEAR(sums(1, 0), 16, 1e-12);
}

TEST(Select, AwkwardInputs) {
  // Constant and duplicate columns, an all-zero response, more groups asked for than there are, lambda above
  // tau.
  const TempFolder folder;
  write_text(folder / "a.csv", "a,b,c,y\n1,5,1,0\n2,5,2,0\n3,5,3,0\n4,5,4,0\n");
  const Dataset data = read_dataset(folder / "a.csv", {});
  SelectOptions options;
  options.method = "group-lasso";
  Selection found = select(data, options, nullptr);
  EXPECT_EQ(found.tau, 0);
  EXPECT_TRUE(found.selected.empty());
  EXPECT_EQ(found.solution.certificate.verdict, Verdict::kCertified);
  options.standardise = true;
  EXPECT_TRUE(select(data, options, nullptr).selected.empty());
  options.method = "omp";
  options.k = 7;
  EXPECT_TRUE(select(data, options, nullptr).selected.empty());
  write_text(folder / "b.csv", "a,b,c,y\n1,5,1,1\n2,5,2,2\n3,5,3,3.5\n4,5,4,4\n");
  const Dataset other = read_dataset(folder / "b.csv", {});
  EXPECT_EQ(select(other, options, nullptr).selected.size(), 3U);
  options.k = 3;
  found = select(other, options, nullptr);
  EXPECT_EQ(found.solution.certificate.verdict, Verdict::kTie);
  options = {};
  options.method = "group-lasso";
  options.lambda = "2tau";
  EXPECT_TRUE(select(other, options, nullptr).selected.empty());
  options.lambda = "0.5tau";
  EXPECT_TRUE(select(other, options, nullptr).solution.converged);
  options.lambda = "x";
  EXPECT_THROW(select(other, options, nullptr), Error);
}

TEST(Select, CrossValidationIsTheSameOnAnyNumberOfThreads) {
  const TempFolder folder;
  write_text(folder / "a.csv", sample_csv(false));
  Dataset data = read_dataset(folder / "a.csv", {});
  data.problem.y += normal(60, 1, 9);
  SelectOptions options;
  options.method = "group-lasso";
  options.path = 30;
  options.cv = 5;
  const Selection one = select(data, options, nullptr);
  options.threads = 3;
  const Selection three = select(data, options, nullptr);
  EXPECT_EQ(one.cv->mean, three.cv->mean);
  EXPECT_LE(one.cv->one_se, one.cv->best);
  EXPECT_LE(one.cv->mean[one.cv->one_se], one.cv->mean[one.cv->best] + one.cv->error[one.cv->best]);
  EXPECT_EQ(one.selected[0], 1);
  EXPECT_GE(one.selected.size(), 2U);
  const std::string picture =
      path_svg(*one.path, one.problem.groups, one.group_names, static_cast<int>(one.chosen));
  EXPECT_NE(picture.find("</svg>"), std::string::npos);
  EXPECT_NE(picture.find(">b</text>"), std::string::npos);
  options.cv = 61;
  EXPECT_THROW(select(data, options, nullptr), Error);
  options = {};
  options.k = 5;
  options.cv = 5;
  const Selection pursued = select(data, options, nullptr);  // two features were planted
  EXPECT_EQ(pursued.cv->mean.size(), 6U);
  EXPECT_EQ(pursued.selected, (std::vector<Index>{1, 3}));
  for (const char* method : {"ompr", "iht", "seq-lasso"}) {
    options.method = method;
    const Selection other = select(data, options, nullptr);
    EXPECT_EQ(other.cv->mean.size(), 5U + 1) << method;
    EXPECT_EQ(other.selected.size(), 2U) << method;
    EXPECT_EQ(other.selected[0] + other.selected[1], 4) << method;
  }
  // Sizes beyond the groups that there are would be the same set again.
  options.k = 100;
  EXPECT_EQ(select(data, options, nullptr).cv->mean.size(), data.features.size() + 1);
  options.method = "ompr";
  options.kprime = 3;
  EXPECT_THROW(select(data, options, nullptr), Error);
}

}  // namespace
}  // namespace hewn::convex
