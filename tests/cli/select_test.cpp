// hewn select from the outside.
#include <gtest/gtest.h>

#include <algorithm>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "hewn/core/random.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"

namespace hewn {
namespace {

using test::Outcome;
using test::TempFolder;
using test::write_text;

/// y = 3 b - c with noise that is the same every time.
std::string sample() {
  std::string out = "a,b,c,d,y\n";
  for (uint64_t i = 0; i < 50; ++i) {
    double x[5];
    for (uint64_t j = 0; j < 5; ++j) x[j] = unit(draw(1, Stream::kSynthetic, j, i)[0]) - 0.5;
    out += std::to_string(x[0]) + "," + std::to_string(x[1]) + "," + std::to_string(x[2]) + "," +
           std::to_string(x[3]) + "," + std::to_string(3 * x[1] - x[2] + 0.1 * x[4]) + "\n";
  }
  return out;
}

TEST(Select, PrintsGroupsAndWritesFiles) {
  const TempFolder folder;
  write_text(folder / "a.csv", sample());
  const std::string data = folder / "a.csv";
  const Outcome text = test::hewn({"select", data, "--target", "y", "--k", "2", "--out", folder / "s.json"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("certified"), std::string::npos) << text.out;
  EXPECT_EQ(Json::parse(read_file(folder / "s.json")).at("selected"), Json({1, 2}));

  const Outcome json =
      test::hewn({"select", data, "--method", "group-lasso", "--lambda", "0.1tau", "--coef", folder / "b.csv",
                  "--out", folder / "c.csv", "--plot", folder / "p.svg", "--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  const Json out = Json::parse(json.out);
  EXPECT_EQ(out.at("selected"), Json({1, 2}));
  EXPECT_EQ(out.at("losses").size(), 2U);
  EXPECT_NEAR(out.at("lambda").get<double>(), 0.1 * out.at("tau").get<double>(), 1e-12);
  EXPECT_LE(out.at("kkt").get<double>(), 1e-6);
  EXPECT_GE(out.at("gap").get<double>(), 0);
  EXPECT_EQ(out.at("certificate"), "certified");
  EXPECT_TRUE(out.at("objective").is_number());
  EXPECT_NE(read_file(folder / "p.svg").find("<svg"), std::string::npos);
  const std::string coefficients = read_file(folder / "b.csv");
  EXPECT_EQ(coefficients, read_file(folder / "c.csv"));
  EXPECT_EQ(std::count(coefficients.begin(), coefficients.end(), '\n'), 6);
}

TEST(Select, PicturesAreSvg) {
  const TempFolder folder;
  write_text(folder / "a.csv", sample());
  const Outcome outcome =
      test::hewn({"select", folder / "a.csv", "--method", "group-lasso", "--plot", folder / "p.png"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find(".svg"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "p.png"));
}

TEST(Select, BothSpellingsOfStandardise) {
  const TempFolder folder;
  write_text(folder / "a.csv", sample());
  const auto tau = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"select", folder / "a.csv", "--k", "1", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = test::hewn(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out).at("tau").get<double>();
  };
  EXPECT_EQ(tau({"--standardise"}), tau({"--standardize"}));
  EXPECT_NE(tau({"--standardise"}), tau({}));
  EXPECT_EQ(test::hewn({"select", "--help"}).out.find("standardize"), std::string::npos);
}

TEST(Select, AwkwardTablesAreTables) {
  const TempFolder folder;
  write_text(folder / "a.csv", sample());
  write_text(folder / "plain.csv", "1,2,1\n2,2,2\n3,2,3\n4,2,5\n");  // no header, a constant column
  write_text(folder / "zero.csv", "a,b,y\n1,2,0\n2,1,-0\n3,5,0\n");
  write_text(folder / "text.csv", "colour,\"size, cm\",y\nred,1,1\nblue,1,3\nred,2,1\nblue,2,3\n");
  write_text(folder / "g.txt", "odd\neven\nodd\neven\n");
  const std::string data = folder / "a.csv";
  const std::vector<std::pair<std::vector<std::string>, Json>> cases = {
      {{folder / "plain.csv", "--k", "9"}, {0, 1}},  // more than there are
      {{folder / "zero.csv", "--method", "group-lasso"}, Json::array()},
      {{folder / "zero.csv", "--k", "2"}, Json::array()},
      {{folder / "zero.csv", "--k", "2", "--method", "ompr"}, Json::array()},
      {{folder / "zero.csv", "--k", "2", "--method", "iht"}, Json::array()},
      {{folder / "zero.csv", "--k", "2", "--method", "seq-lasso"}, Json::array()},
      {{data, "--method", "group-lasso", "--lambda", "2tau"}, Json::array()},
      {{data, "--groups", folder / "g.txt", "--k", "1"}, {1}},
      {{folder / "text.csv", "--categories", "colour", "--k", "1"}, {1}},
      {{data, "--method", "ompr", "--k", "3", "--cv", "5"}, {1, 2}},
  };
  for (const auto& [arguments, selected] : cases) {
    std::vector<std::string> words = {"select"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.emplace_back("--json");
    const Outcome outcome = test::hewn(words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out).at("selected"), selected) << arguments[0];
  }
}

TEST(Select, MistakesAreOneLineThatNamesThem) {
  const TempFolder folder;
  write_text(folder / "a.csv", sample());
  write_text(folder / "holes.csv", "a,b\n1,2\n,3\n");
  write_text(folder / "separable.csv", "a,class\n1,x\n2,x\n3,y\n4,y\n");
  write_text(folder / "text.npz", "a,b\n1,2\n");
  const std::string data = folder / "a.csv";
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"select", folder.path()}, "is a folder without a run's config.json; hewn select takes"},
      {{"select", folder / "text.npz"}, "text.npz: is not a ZIP archive"},
      {{"select", folder / "separable.csv", "--ridge", "0"}, "add ridge (1e-3)"},
      {{"select", data, "--targets", "y,a,y"}, "target: column \"y\" is named twice"},
      {{"select", data, "--weights", "a", "--offset", "a"}, "column \"a\" is named for two of"},
      {{"select", data, "--targets", "y,a", "--offset", "b"}, "offset: needs a task with one output, got 2"},
      {{"select", data, "--categories", "a", "--group-size", "2"}, "categories: are groups of their own"},
      {{"select", data, "--method", "ompr", "--kprime", "3", "--cv", "5"},
       "kprime: cannot be given together"},
      {{"select", folder / "none.csv"}, "none.csv: no such file or folder"},
      {{"select", folder / "holes.csv"}, "line 3, column \"a\": the value is missing"},
      {{"select", data, "--target", "z"}, "no column \"z\""},
      {{"select", data, "--method", "lassoo"}, "method: unknown name \"lassoo\""},
      {{"select", data, "--method", "q-pow:2"}, "expected an exponent between 0 and 1"},
      {{"select", data, "--k", "-1"}, "k: expected at least 1"},
      {{"select", data, "--lambda", "0.1tau"}, "lambda: applies to methods with a path only, not to omp"},
      {{"select", data, "--method", "group-lasso", "--lambda", "much"}, "lambda: expected a number"},
      {{"select", data, "--method", "group-lasso", "--cv", "1"}, "cv: expected 2 to 50 folds"},
      {{"select", data, "--task", "binomial"}, "distinct values, expected 2"},
      {{"select", data, "--groups", folder / "a.csv"}, "group labels, expected 4"},
      {{"select", data, "--plot", folder / "p.svg"}, "plot: omp follows no path"},
      {{"select", data, "--coef", folder / "b.txt"}, "coef: expected a file that ends in .npy or .csv"},
      {{"select", data, "--out", folder / "b.txt"}, "out: expected a file that ends in .csv, .npy, .json"},
  };
  for (const auto& [arguments, expected] : cases) {
    const Outcome outcome = test::hewn(arguments);
    EXPECT_EQ(outcome.code, 2) << expected;
    EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err << " expected: " << expected;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

}  // namespace
}  // namespace hewn
