// The same objectives as scikit-learn and glmnet, where these are installed.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>

#include "hewn/convex/path.h"
#include "hewn/core/error.h"
#include "hewn/io/npy.h"
#include "tests/convex/support.h"
#include "tests/support/temp_folder.h"

namespace hewn::convex {
namespace {

/// Output of a command, or "" where it fails.
std::string output_of(const std::string& command) {
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return "";
  std::string out;
  std::array<char, 4096> buffer{};
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) out.append(buffer.data(), got);
  return pclose(pipe) == 0 ? out : "";
}

void write_csv(const std::filesystem::path& path, const Matrix& m) {
  std::ofstream out(path);
  out.precision(17);
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) out << (j > 0 ? "," : "") << m(i, j);
    out << '\n';
  }
}

struct Case {
  Problem problem;
  Matrix x;
  Path path;
  std::string lambdas;
};

Case solved(const std::string& loss, Index outputs, uint64_t seed) {
  Case out;
  out.problem = problem_of(loss, 80, 30, outputs, seed);
  out.x = correlated(80, 30, seed);
  Options options;
  options.tolerance = 1e-9;
  PathOptions path;
  path.count = 6;
  path.min_ratio = 0.05;
  out.path = solve_path(out.problem, Penalty(), options, path);
  for (const Solution& s : out.path.solutions) {
    std::ostringstream text;
    text.precision(17);
    text << ' ' << s.lambda;
    out.lambdas += text.str();
  }
  return out;
}

void expect_objectives(const std::string& text, const Case& solved, const std::string& what) {
  std::istringstream in(text);
  for (const Solution& s : solved.path.solutions) {
    double theirs = 0;
    ASSERT_TRUE(in >> theirs) << what;
    EXPECT_NEAR(s.objective, theirs, 1e-6 * std::abs(theirs)) << what << " at lambda " << s.lambda;
    EXPECT_LE(s.objective, theirs + 1e-8 * std::abs(theirs)) << what;
  }
}

TEST(Agreement, ScikitLearn) {
  const std::string python = "/usr/bin/python3";
  if (output_of(python + " -c 'import sklearn.linear_model; print(1)'").empty()) {
    GTEST_SKIP() << "scikit-learn is not installed (python3-sklearn)";
  }
  const test::TempFolder folder;
  for (const Index outputs : {1, 4}) {
    const Case own = solved("gaussian", outputs, 31);
    io::write_npy(folder / "x.npy", own.x.rows(), own.x.cols(), own.x.data());
    io::write_npy(folder / "y.npy", own.problem.y.rows(), own.problem.y.cols(), own.problem.y.data());
    expect_objectives(
        output_of(python + " " HEWN_SOURCE_DIR "/tests/convex/agreement.py " + (folder / "x.npy").string() +
                  " " + (folder / "y.npy").string() + own.lambdas),
        own, str("sklearn, outputs ", outputs));
  }
}

void expect_like_glmnet(const std::vector<std::string>& families) {
  if (output_of("Rscript -e 'library(glmnet); cat(1)'").empty()) {
    GTEST_SKIP() << "glmnet is not installed (r-cran-glmnet)";
  }
  const test::TempFolder folder;
  for (const std::string& family : families) {
    const bool many = family == "mgaussian" || family == "multinomial";
    const Case own = solved(family == "mgaussian" ? "gaussian" : family, many ? 3 : 1, 32);
    write_csv(folder / "x.csv", own.x);
    write_csv(folder / "y.csv", own.problem.y);
    expect_objectives(
        output_of("Rscript " HEWN_SOURCE_DIR "/tests/convex/agreement.R " + family + " " +
                  (folder / "x.csv").string() + " " + (folder / "y.csv").string() + own.lambdas),
        own, family);
  }
}

TEST(Agreement, Glmnet) { expect_like_glmnet({"gaussian", "mgaussian", "binomial", "poisson"}); }

TEST(Agreement, SlowGlmnetOfClasses) { expect_like_glmnet({"multinomial"}); }

}  // namespace
}  // namespace hewn::convex
