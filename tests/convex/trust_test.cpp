// Inputs that once gave a wrong answer without a word.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hewn/convex/select.h"
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

}  // namespace
}  // namespace hewn::convex
