// hewn report and hewn sweep name the same winners of the same runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hewn/core/error.h"
#include "hewn/report/report.h"
#include "hewn/sweep/tables.h"
#include "tests/support/temp_folder.h"

namespace hewn {
namespace {

class SameRuns : public testing::Test {
 protected:
  SameRuns() {
    const sweep::TrainRules rules{{"method", "block", "sparsity", "seed"},
                                  [](const sweep::Options&) {},
                                  [](const std::string& key) { return key == "block" || key == "sparsity"; },
                                  [](const std::string&) { return false; }};
    // Seeds in another order than the report's, which goes by their numbers.
    spec_ = sweep::read_spec(
        sweep::sweep_file(
            "[axes]\nmethod = [\"dense\", \"acdc\", \"magnitude\", \"sa++\"]\nblock = [\"8x8\", \"16x16\"]\n"
            "sparsity = [0.5, 0.9]\nseed = [2, 0, 1]\n",
            "table.toml"),
        {}, rules);
    spec_.options.metric = "loss";
    runs_ = sweep::expand(spec_, rules);
  }

  /// Writes a finished run as far as the two look at it.
  void finish(const sweep::Run& run, double loss) const {
    const auto option = [&](const std::string& key, const std::string& otherwise) {
      return run.options.contains(key) ? run.options.at(key) : otherwise;
    };
    const std::string method = option("method", "");
    const std::filesystem::path path = sweep::Folder{folder_.path()}.run(run.name);
    std::filesystem::create_directories(path);
    const Json signature = {
        {"input", {1, 28, 28}}, {"outputs", 10}, {"clicks", false}, {"vocabularies", Json::array()}};
    const Json options = {
        {"data", "fashion-mnist"}, {"model", "mlp"}, {"widths", {64}}, {"method", method}, {"epochs", 1}};
    test::write_text(path / "config.json",
                     Json{{"steps", 10}, {"signature", signature}, {"options", options}}.dump());
    test::write_text(path / "summary.json", Json{{"method", method},
                                                 {"block", option("block", "16x16")},
                                                 {"sparsity", std::stod(option("sparsity", "0"))},
                                                 {"seed", std::stoi(option("seed", "0"))},
                                                 {"seconds", 1},
                                                 {"metrics", {{"loss", loss}}}}
                                                .dump());
  }

  static double number(const Json& value) {
    return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
  }
  /// "block sparsity: best, second, verdict" of every cell.
  static std::set<std::string> lines(const Json& winners, bool nested) {
    std::set<std::string> out;
    for (const Json& row : winners) {
      const Json& at = nested ? row["at"] : row;
      out.insert(str(at["block"].get<std::string>(), " ", number(at["sparsity"]), ": ",
                     row["best"].get<std::string>(), ", ", row["second"].get<std::string>(), ", ",
                     row["verdict"].get<std::string>()));
    }
    return out;
  }

  test::TempFolder folder_;
  sweep::Spec spec_;
  std::vector<sweep::Run> runs_;
};

/// The test loss of a run: a clear lead, a tie by all but rounding, one within noise, and one of three seeds.
double loss_of(const std::string& run) {
  const auto has = [&](const char* part) { return run.find(part) != std::string::npos; };
  const double seed = has("seed0") ? 0.1 : has("seed1") ? 0.2 : 0.3;
  if (has("dense")) return 0.1 + seed;
  if (has("8x8") && has("sparsity0.9")) return (has("acdc") ? 0.2 : has("sa++") ? 0.9 : 0.7) + seed / 100;
  if (has("sparsity0.9")) return has("magnitude") ? 2 : has("acdc") ? 0.4 - seed : seed;
  return (has("sa++") ? 0.3 : has("acdc") ? 0.31 : 1) + seed;
}

TEST_F(SameRuns, HaveTheSameWinnersAndMeans) {
  for (const sweep::Run& run : runs_) {
    const bool missing = run.name.starts_with("sa++-block16x16-sparsity0.5") && !run.name.ends_with("seed0");
    if (!missing) finish(run, loss_of(run.name));
  }
  const sweep::Folder folder{folder_.path()};
  const Json table = sweep::json_results(spec_, runs_, sweep::collect(spec_, runs_, folder));
  report::ReportOptions options;
  options.latency = false;
  const Json page = report::collect({folder_.path().string()}, options)["comparison"];
  EXPECT_EQ(lines(table["winners"], true),
            (std::set<std::string>{"8x8 0.9: acdc, magnitude, clear", "16x16 0.9: acdc, sa++, tie",
                                   "8x8 0.5: sa++, acdc, within noise", "16x16 0.5: sa++, acdc, one seed"}));
  EXPECT_EQ(lines(page["winners"], false), lines(table["winners"], true));
  for (const Json& cell : page["cells"]) {
    const auto same = std::find_if(table["cells"].begin(), table["cells"].end(), [&](const Json& other) {
      return other["at"]["method"] == cell["method"] && other["at"]["block"] == cell["block"] &&
             number(other["at"]["sparsity"]) == cell["sparsity"];
    });
    ASSERT_NE(same, table["cells"].end()) << cell;
    EXPECT_EQ((*same)["n"], cell["n"]);
    EXPECT_NEAR((*same)["mean"].get<double>(), cell["mean"].get<double>(), 1e-6);
  }
}

}  // namespace
}  // namespace hewn
