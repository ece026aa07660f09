// What a sweep file says, and what is said about one that is wrong.
#include <gtest/gtest.h>

#include <set>

#include "hewn/core/error.h"
#include "hewn/sweep/expand.h"
#include "hewn/sweep/layout.h"
#include "hewn/sweep/sections.h"
#include "tests/support/message.h"

namespace hewn::sweep {
namespace {

/// Some options of hewn train; sparsity must be below 1.
TrainRules rules() {
  return {{"method", "block", "sparsity", "seed", "epochs", "widths", "data", "device", "out", "threads",
           "drop", "schedule", "teacher", "teacher-share", "budget", "costs"},
          [](const Options& options) {
            const auto found = options.find("sparsity");
            if (found != options.end() && found->second == "1")
              throw Error("sparsity: expected less than 1, got 1");
          },
          [](const std::string& key) {
            return key == "block" || key == "sparsity" || key == "drop" || key == "budget" || key == "costs";
          },
          [](const std::string& key) { return key == "threads"; }};
}

Spec spec_of(const std::string& text, const Options& given = {}) {
  return read_spec(sweep_file(text, "a.toml"), given, rules());
}
std::vector<Run> runs_of(const std::string& text) { return expand(spec_of(text), rules()); }
std::string problem(const std::string& text, const Options& given = {}) {
  return test::message_of([&] { expand(spec_of(text, given), rules()); });
}
std::vector<std::string> names_of(const std::vector<Run>& runs) {
  std::vector<std::string> out;
  for (const Run& run : runs) out.push_back(run.name);
  return out;
}

constexpr const char* kTable = R"(
[train]
epochs = 3            # a comment
widths = [64, 32]
[axes]
method = ["dense", "acdc", "sa++"]
block = [
  5, 10,              # over lines
  20,
]
sparsity = [0.9, 0.99]
seed = [0, 1]
)";

TEST(SweepFile, HasNoMoreRunsThanCanBeListed) {
  std::string text = "[axes]\n";
  for (const char* key : {"block", "epochs", "seed", "widths"}) {
    text += str(key, " = [");
    for (int i = 1; i <= 30; ++i) text += str(i, ", ");
    text += "]\n";
  }
  EXPECT_EQ(problem(text), "a.toml: its axes have more than 100000 combinations");
}

TEST(Sections, ReadsTextsNumbersAndLists) {
  const auto sections = read_sections(
      "[a]\nx = \"1 # \\\"2\\\"\" # c\ny = [[1, 2], [3]]\n\n[v.\"two words\"]\nz = true\n[[e]]\n", "f");
  ASSERT_EQ(sections.size(), 3U);
  EXPECT_EQ(sections[0].entries[0].value.text(), "1 # \"2\"");
  EXPECT_EQ(sections[0].entries[1].value.items, (std::vector<std::string>{"1,2", "3"}));
  EXPECT_EQ(sections[0].entries[1].value.line.number, 3);
  EXPECT_EQ(sections[1].label, "two words");
  EXPECT_EQ(sections[1].entries[0].value.text(), "true");
  EXPECT_TRUE(sections[2].repeated);
}

TEST(Expansion, TheDenseModelTeachesAndHasNoTeacherItself) {
  const auto runs = runs_of(
      "[train]\nteacher = \"self-dense\"\n[axes]\nmethod = [\"dense\", \"acdc\"]\nteacher-share = [0.3, "
      "0.9]\n");
  EXPECT_EQ(names_of(runs),
            (std::vector<std::string>{"dense", "acdc-teacher-share0.3", "acdc-teacher-share0.9"}));
  EXPECT_EQ(runs[0].options, (Options{{"method", "dense"}}));
  EXPECT_EQ(runs[0].points.size(), 2U);
  EXPECT_TRUE(runs[0].shared);
  EXPECT_EQ(runs[1].options,
            (Options{{"method", "acdc"}, {"teacher", "self-dense"}, {"teacher-share", "0.3"}}));
  // A file may teach it.
  EXPECT_EQ(
      names_of(runs_of("[axes]\nmethod = [\"dense\", \"acdc\"]\nteacher = [\"\", \"runs/a.pt\"]\n")),
      (std::vector<std::string>{"dense", "dense-teacherruns-a.pt", "acdc-teacher", "acdc-teacherruns-a.pt"}));
}

TEST(Expansion, EveryCombinationOnceAndTheDenseModelOncePerSeed) {
  const auto runs = runs_of(kTable);
  EXPECT_EQ(runs.size(), 2U * (1 + 2 * 3 * 2));
  const auto names = names_of(runs);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), runs.size());
  EXPECT_EQ(names[0], "dense-seed0");
  EXPECT_EQ(names[1], "acdc-block5-sparsity0.9-seed0");
  EXPECT_EQ(names[13], "dense-seed1");  // all of the first seed come first
  EXPECT_EQ(runs[0].points.size(), 6U);
  EXPECT_FALSE(runs[0].options.contains("block"));
  EXPECT_EQ(runs[1].options, (Options{{"block", "5"},
                                      {"epochs", "3"},
                                      {"method", "acdc"},
                                      {"seed", "0"},
                                      {"sparsity", "0.9"},
                                      {"widths", "64,32"}}));
}

TEST(Expansion, TheDenseModelStillDependsOnOtherAxes) {
  const auto names = names_of(runs_of("[axes]\nmethod = [\"dense\"]\nblock = [1, 2]\nepochs = [3, 4]\n"));
  EXPECT_EQ(names, (std::vector<std::string>{"dense-epochs3", "dense-epochs4"}));
}

TEST(Expansion, ADenseModelTakesNoScheduleThatWouldPruneIt) {
  const auto runs =
      runs_of("[train]\nschedule = \"one-shot\"\n[axes]\nmethod = [\"dense\", \"magnitude\"]\n");
  EXPECT_FALSE(runs[0].options.contains("schedule"));
  EXPECT_EQ(runs[1].options.at("schedule"), "one-shot");
}

TEST(Expansion, CostsAreForRunsWithABudgetOfMilliseconds) {
  const auto runs = runs_of(
      "[train]\ncosts = \"a.json\"\n[axes]\nmethod = [\"dense\", \"acdc\"]\nbudget = [\"global\", "
      "\"ms=4\"]\n");
  ASSERT_EQ(runs.size(), 3U);
  for (const auto& run : runs) {
    EXPECT_EQ(run.options.contains("costs"), run.name == "acdc-budgetms-4") << run.name;
  }
  // Where no run has one, they are left for hewn train to refuse.
  EXPECT_TRUE(runs_of("[train]\ncosts = \"a.json\"\n[axes]\nseed = [0, 1]\n")[0].options.contains("costs"));
}

TEST(Expansion, TheDenseModelCompetesOnlyWhereItsOwnTrainingIsCompared) {
  const std::string axes = "[axes]\nmethod = [\"dense\"]\nepochs = [1, 2]\n[variant.own]\nblock = 3\n";
  EXPECT_TRUE(runs_of(axes)[0].shared);
  EXPECT_FALSE(runs_of(axes + "[sweep]\ncompare = \"epochs\"\n")[0].shared);
}

TEST(Expansion, VariantsAreFurtherMethods) {
  const auto runs = runs_of(
      "[train]\nepochs = 3\n[axes]\nblock = [1, 2]\n[variant.\"drop: zero\"]\nmethod = \"sa++\"\ndrop = "
      "\"zero\"\n"
      "[variant.long]\nepochs = 9\n");
  EXPECT_EQ(names_of(runs),
            (std::vector<std::string>{"drop-zero-block1", "drop-zero-block2", "long-block1", "long-block2"}));
  EXPECT_EQ(runs[0].options.at("drop"), "zero");
  EXPECT_EQ(runs[0].options.at("epochs"), "3");
  EXPECT_EQ(runs[2].options.at("epochs"), "9");
  EXPECT_FALSE(runs[2].options.contains("method"));
}

TEST(Expansion, ExcludedCellsAreLeftOut) {
  const std::string text =
      std::string(kTable) + "[[exclude]]\nblock = [5, 10]\nsparsity = 0.99\n[[exclude]]\nmethod = \"acdc\"\n";
  EXPECT_EQ(runs_of(text).size(), 2U * (1 + 4));
  EXPECT_EQ(problem(std::string(kTable) + "[[exclude]]\nseed = [0, 1]\n"),
            "a.toml: no run is left: every combination is excluded");
}

TEST(Expansion, TheCommandLineReplacesWhatTheFileSays) {
  const Spec spec =
      spec_of(kTable, {{"data", "here"}, {"device", "cuda"}, {"workers", "7"}, {"threads", "2"}});
  EXPECT_EQ(spec.fixed.at("data"), "here");
  EXPECT_EQ(spec.options.device, "cuda");
  EXPECT_EQ(spec.options.workers, 7);
  EXPECT_EQ(spec.options.threads, 2);
  EXPECT_NE(problem("[axes]\ndata = [\"a\", \"b\"]\n", {{"data", "c"}}).find("is an axis"),
            std::string::npos);
  EXPECT_NE(
      problem("[axes]\nblock = [1]\n[variant.v]\ndata = \"a\"\n", {{"data", "c"}}).find("sets it already"),
      std::string::npos);
}

TEST(Layout, DefaultsAndOwnChoice) {
  const Spec usual = spec_of(kTable);
  EXPECT_EQ(usual.options.compare, "method");
  EXPECT_EQ(usual.options.columns, std::vector<std::string>{"method"});
  EXPECT_EQ(usual.options.rows, (std::vector<std::string>{"block", "sparsity"}));
  const Spec own = spec_of(std::string(kTable) + "[sweep]\nrows = [\"block\"]\n");
  EXPECT_EQ(split_axes(own), std::vector<std::string>{"sparsity"});
  EXPECT_EQ(spec_of("[axes]\nepochs = [1, 2]\nseed = [0]\n").options.compare, "epochs");
}

TEST(BadFiles, AreNamedWithTheLine) {
  const auto expect = [](const std::string& text, const std::string& line, const std::string& what) {
    const std::string said = problem(text);
    EXPECT_NE(said.find("a.toml: line " + line + ": "), std::string::npos) << said;
    EXPECT_NE(said.find(what), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  };
  expect("[train]\n\nepoch = 3\n", "3", "unknown option \"epoch\" of hewn train (did you mean epochs?)");
  expect("[axes]\nblok = [1]\n", "2", "did you mean block?");
  expect("[axes]\nblock = 4\n", "2", "expected a list");
  expect("[axes]\nblock = [4, 4]\n", "2", "\"4\" is there twice");
  expect("[axes]\nblock = [4,\n", "3", "a list does not end");
  expect("[axes]\nblock = [4 5]\n", "2", "expected , or ]");
  expect("[axes]\nseed = [0]\nsparsity = [0.5, 1]\n", "3", "sparsity: expected less than 1");
  expect("[train]\nsparsity = 1\n[axes]\nseed = [0]\n", "2", "sparsity: expected less than 1");
  expect("[train]\nblock = 3\n[axes]\nblock = [1]\n", "4", "is an axis and fixed");
  expect("[train]\nout = \"x\"\n", "2", "runs lie in the folder of the sweep");
  expect("[train]\nthreads = 2\n", "2", "give threads in [sweep]");
  expect("[train]\ndata = mnist\n", "2", "a text in quotes");
  expect("[train]\ndata = \"mnist\n", "2", "does not end on its line");
  expect("[train]\nepochs = 3 4\n", "2", "expected the end of the line");
  expect("[train]\nepochs = 3\nepochs = 4\n", "3", "given twice, first in line 2");
  expect("[train]\n[axes]\n[train]\n", "3", "there already, in line 1");
  expect("epochs = 3\n", "1", "expected a section");
  expect("\xef\xbb\xbf[train]\nepochs = x\n", "2", "a text in quotes");  // the mark is passed over
  expect("[train]\r\ndata = \"mnist\r\n", "2", "does not end on its line");
  expect("[train]\n\ndata = \"\xff\"\n", "3", "expected UTF-8");
  expect("[trian]\n", "1", "did you mean train?");
  expect("[size]\nblock = 1\n", "1", "expected [size.NAME]");
  expect("[exclude]\nblock = 1\n", "1", "expected [[exclude]]");
  expect("[variant]\nblock = 1\n", "1", "expected [variant.NAME]");
  expect("[axes]\nblock = [1]\n[variant.a]\nblock = 2\n", "3", "sets block, which is an axis");
  expect("[variant.a]\nseed = 2\n", "2", "cannot differ between variants");
  expect("[axes]\nblock = [1]\n[[exclude]]\nepochs = 2\n", "4", "is not an axis");
  expect("[axes]\nblock = [1]\n[[exclude]]\nblock = 2\n", "4", "has no value \"2\"");
  expect("[axes]\nblock = [1]\n[[exclude]]\nblock = []\n", "4", "expected a value");
  expect("[axes]\nblock = [1]\n[sweep]\ncompare = [\"block\", \"block\"]\n", "4", "expected one axis");
  expect("[axes]\nblock = [1]\n[sweep]\nrows = [\"block\", \"block\"]\n", "4", "is there twice");
  expect("[axes]\nblock = [1]\n[sweep]\nworker = 2\n", "4", "did you mean workers?");
  expect("[axes]\nblock = [1]\n[sweep]\nworkers = 0\n", "4", "expected 1 to 1024, got 0");
  expect("[axes]\nblock = [1]\n[sweep]\nworkers = \"x\"\n", "4", "expected a whole number");
  expect("[axes]\nblock = [1]\n[sweep]\nmetric = \"f1\"\n", "4",
         "expected one of accuracy, auc, bpc, loss, r2, rmse");
  expect("[axes]\nblock = [1]\n[sweep]\nrows = [\"seed\"]\n", "4", "is not an axis");
  expect("[axes]\nblock = [1]\n[sweep]\nbaseline = \"2\"\n", "4", "has no value \"2\"");
  expect("[axes]\nblock = [1]\n[sweep]\nrows = [\"block\"]\ncolumns = [\"block\"]\n", "4",
         "rows and columns");
}

TEST(BadFiles, TwoRunsOfOneName) {
  EXPECT_EQ(problem("[axes]\ndata = [\"a:b\", \"a b\"]\n"),
            "a.toml: two different runs would be called dataa-b; they differ only in signs that names leave "
            "out");
}

TEST(BadFiles, NamesThatNoFolderCanHave) {
  EXPECT_NE(problem("[variant.\"..\"]\nblock = 1\n").find("would be called \"..\""), std::string::npos);
  EXPECT_NE(problem("[variant." + std::string(300, 'a') + "]\nblock = 1\n").find("at most 200"),
            std::string::npos);
  // Letters of other alphabets stay apart.
  EXPECT_EQ(names_of(runs_of("[variant.\"日本\"]\nblock = 1\n[variant.\"中国\"]\nblock = 2\n")),
            (std::vector<std::string>{"日本", "中国"}));
}

TEST(BadFiles, OneValueMayBeWrittenInSeveralWaysButOnlyOnce) {
  EXPECT_NE(problem("[axes]\nsparsity = [0.9, 0.90]\n").find("\"0.90\" is there twice"), std::string::npos);
}

}  // namespace
}  // namespace hewn::sweep
