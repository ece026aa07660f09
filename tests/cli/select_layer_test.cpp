// hewn select --from-run from the outside: train, choose blocks of two layers, evaluate and export what came
// out.
#include <gtest/gtest.h>

#include <algorithm>

#include "hewn/core/json.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

class SelectLayer : public testing::Test {
 protected:
  void SetUp() override {
    write_tiny_mnist(folder_ / "data", 500, 100);
    const Outcome trained =
        hewn({"train", "--quiet", "--data", "mnist:" + (folder_ / "data").string(), "--method", "dense",
              "--epochs", "3", "--batch", "50", "--widths", "64,64", "--block", "8", "--out", path("run")});
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> select(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"select", "--from-run", path("run"), "--samples", "200"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  TempFolder folder_;
};

TEST_F(SelectLayer, WritesARunThatEvalInspectAndExportAccept) {
  const Outcome first = hewn(select({"--layer", "fc1", "--sparsity", "0.8", "--out", path("one"), "--json"}));
  ASSERT_EQ(first.code, 0) << first.err;
  const Json one = Json::parse(first.out);
  EXPECT_EQ(one.at("blocks"), 98 * 8);
  EXPECT_EQ(one.at("kept"), 156);  // 0.2 * 784 rounded down
  EXPECT_EQ(one.at("selected").size(), 156U);
  EXPECT_EQ(one.at("samples"), 200);
  const auto losses = one.at("losses").get<std::vector<double>>();
  EXPECT_TRUE(std::is_sorted(losses.rbegin(), losses.rend()));
  EXPECT_LT(losses.front(), one.at("null_loss").get<double>());

  const Outcome second = hewn({"select", "--from-run", path("one"), "--layer", "fc2", "--method", "ompr",
                               "--k", "9", "--out", path("two"), "--json"});
  ASSERT_EQ(second.code, 0) << second.err;
  const Json two = Json::parse(second.out);
  EXPECT_EQ(two.at("before"), one.at("after"));
  const Outcome evaluated = hewn({"eval", path("two"), "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(Json::parse(evaluated.out).at("metrics"), two.at("after"));

  const Outcome inspected = hewn({"inspect", path("two"), "--json"});
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  const Json layers = Json::parse(inspected.out).at("layers");
  EXPECT_EQ(layers.at(0).at("kept"), 156);
  EXPECT_EQ(layers.at(1).at("kept"), 9);
  const Outcome exported = hewn({"export", path("two"), "--to", path("model.hewn"), "--json"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  // Blocks of units that nothing reads any more are left out.
  const Json written = Json::parse(exported.out);
  EXPECT_LT(written.at("layers").at(0).at("kept"), 156);
  EXPECT_GT(written.at("layers").at(0).at("kept"), 0);
  EXPECT_GT(written.at("removed").at("units"), 0);
  const Outcome predicted =
      hewn({"predict", path("model.hewn"), "--data", "mnist:" + path("data"), "--json"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
}

TEST_F(SelectLayer, AllBlocksAreTheSameNetwork) {
  const Outcome text = hewn(select({"--layer", "fc2", "--sparsity", "0", "--ridge", "0"}));
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("64 of 64 blocks of 8x8 kept; 200 inputs from 200 training samples"),
            std::string::npos)
      << text.out;
  const Json all =
      Json::parse(hewn(select({"--layer", "fc2", "--sparsity", "0", "--ridge", "1e-9", "--json"})).out);
  EXPECT_LT(all.at("losses").back().get<double>(), 1e-6 * all.at("null_loss").get<double>());
  EXPECT_EQ(all.at("before").at("accuracy"), all.at("after").at("accuracy"));
}

TEST_F(SelectLayer, SlowMistakesAreOneLineThatNamesThem) {
  ASSERT_EQ(hewn(select({"--layer", "fc1", "--out", path("pruned")})).code, 0);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {select({}), "layer: expected --layer NAME"},
      {select({"--layer", "fc9"}),
       "layer: the model has no layer \"fc9\" (did you mean fc1?); it has fc1, fc2, fc3"},
      {select({"--layer", "fc1", "--method", "iht"}), "method: expected omp, ompr or magnitude for a layer"},
      {select({"--layer", "fc1", "--k", "785"}), "k: expected 1 to 784"},
      {select({"--layer", "fc1", "--k", "5", "--sparsity", "0.5"}), "k and sparsity: give one of them"},
      {select({"--layer", "fc1", "--sparsity", "1"}), "sparsity: expected a number in [0, 1), got 1"},
      {select({"--layer", "fc1", "--samples", "0"}), "samples: expected at least 1"},
      {select({"--layer", "fc1", "--score", "size"}), "score: expected norm or curvature"},
      {select({"--layer", "fc1", "--cv", "5"}), "cv: applies to tables"},
      {select({"--layer", "fc1", "--ridge", "-1"}), "ridge: expected 0 or more"},
      {select({"--layer", "fc1", "--out", path("run")}), "holds a run already"},
      {select({"--layer", "fc1", "a.csv"}), "from-run: takes its data from the run"},
      {{"select", "--from-run", path("none"), "--layer", "fc1"}, "none: no such file or folder"},
      {{"select", "--from-run", path("pruned"), "--layer", "fc2", "--block", "4"},
       "block: layer fc1 of this run is pruned in blocks of 8"},
      {{"select", HEWN_SOURCE_DIR "/README.md", "--layer", "fc1"}, "layer: applies to a layer of a run only"},
      {{"select"}, "SOURCE is required"},
  };
  for (const auto& [arguments, expected] : cases) {
    const Outcome outcome = hewn(arguments);
    EXPECT_EQ(outcome.code, 2) << expected;
    EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err << " expected: " << expected;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

}  // namespace
}  // namespace hewn::test
