// Tables that were cut, damaged or given in other units: the right answer or an error, never something else.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "hewn/convex/select.h"
#include "hewn/core/error.h"
#include "hewn/core/random.h"
#include "tests/convex/support.h"
#include "tests/support/temp_folder.h"

namespace hewn::convex {
namespace {

using test::TempFolder;
using test::write_text;

/// Numbers of one case, one after the other.
class Dice {
 public:
  explicit Dice(uint64_t seed) : seed_(seed) {}
  double share() { return unit(draw(seed_, Stream::kSynthetic, 1, next_++)[0]); }
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(share() * static_cast<double>(count));
  }

 private:
  uint64_t seed_;
  uint64_t next_ = 0;
};

std::string table_text(const Matrix& x, const Vector& y) {
  std::ostringstream out;
  out.precision(17);
  for (Index j = 0; j < x.cols(); ++j) out << "x" << j << ',';
  out << "y\n";
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) out << x(i, j) << ',';
    out << y[i] << '\n';
  }
  return out.str();
}

/// Throws Error where table or options are not taken.
Selection selected_from(const std::string& text, const std::filesystem::path& path,
                        const SelectOptions& options) {
  write_text(path, text);
  return select(read_dataset(path, {}), options, nullptr);
}

void expect_sound(const Selection& found, const std::string& what) {
  const Matrix b = found.solution.coefficients(found.problem.groups);
  EXPECT_TRUE(b.allFinite() && std::isfinite(found.solution.objective) && std::isfinite(found.tau)) << what;
  if (found.solution.certificate.verdict == Verdict::kCertified) {
    EXPECT_TRUE(std::isfinite(found.solution.certificate.gap)) << what;
  }
}

/// Whether a case gave an answer.
bool try_case(uint64_t seed, const std::filesystem::path& path) {
  Dice dice(seed);
  const auto n = static_cast<Index>(8 + dice.below(20));
  const auto p = static_cast<Index>(1 + dice.below(5));
  const Matrix x = normal(n, p, seed);
  const Vector y = x.col(0) + 0.5 * x.col(p - 1) + 0.3 * normal(n, 1, seed + 1).col(0);
  constexpr const char* kMethods[] = {"omp",       "ompr",    "iht",         "seq-lasso",
                                      "lasso",     "mask-l1", "l23",         "q-log",
                                      "q-pow:0.5", "sum-log", "sum-pow:0.5", "mask-identity"};
  SelectOptions options;
  options.method = kMethods[dice.below(std::size(kMethods))];
  options.k = static_cast<int64_t>(1 + dice.below(3));
  options.standardise = dice.below(4) == 0;
  const std::string what = str(options.method, " case ", seed);
  std::string text = table_text(x, y);
  const std::size_t kind = dice.below(3);
  try {
    if (kind == 0) {
      text.resize(dice.below(text.size()));
      expect_sound(selected_from(text, path, options), what);
    } else if (kind == 1) {
      for (std::size_t i = 0; i <= dice.below(4); ++i)
        text[dice.below(text.size())] = static_cast<char>(32 + dice.below(95));
      expect_sound(selected_from(text, path, options), what);
    } else {
      const double x_unit = std::pow(10, 300 * dice.share() - 150);
      const double y_unit = std::pow(10, 300 * dice.share() - 150);
      const Selection there = selected_from(table_text(x * x_unit, y * y_unit), path, options);
      const Selection here = selected_from(text, path, options);
      EXPECT_EQ(here.selected, there.selected) << what << ' ' << x_unit << ' ' << y_unit;
      const Matrix a = here.solution.coefficients(here.problem.groups);
      const Matrix b = there.solution.coefficients(there.problem.groups) * (x_unit / y_unit);
      EXPECT_LE((a - b).norm(), 1e-6 * a.norm()) << what << ' ' << x_unit << ' ' << y_unit;
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

TEST(Fuzz, SomeTables) {
  const TempFolder folder;
  int answers = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) answers += try_case(seed, folder / "a.csv") ? 1 : 0;
  EXPECT_GT(answers, 40);
}

TEST(Fuzz, SlowTenThousandTables) {
  const TempFolder folder;
  int answers = 0;
  for (uint64_t seed = 1000; seed < 11000; ++seed) answers += try_case(seed, folder / "a.csv") ? 1 : 0;
  RecordProperty("answers", answers);
  EXPECT_GT(answers, 1500);
}

}  // namespace
}  // namespace hewn::convex
