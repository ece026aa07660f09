// Models that hewn select writes and hewn predict takes, and hewn theory.
#include <gtest/gtest.h>

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

/// y = 3 b - c, and whether it is positive.
std::string rows_of_model() {
  std::string out = "a,b,c,y,sign\n";
  for (uint64_t i = 0; i < 50; ++i) {
    double x[3];
    for (uint64_t j = 0; j < 3; ++j) x[j] = unit(draw(1, Stream::kSynthetic, j, i)[0]) - 0.5;
    const double y = 3 * x[1] - x[2];
    out += std::to_string(x[0]) + "," + std::to_string(x[1]) + "," + std::to_string(x[2]) + "," +
           std::to_string(y) + "," + (y > 0 ? "up" : "down") + "\n";
  }
  return out;
}

TEST(SelectModel, PredictsWithoutLibTorch) {
  const TempFolder folder;
  write_text(folder / "a.csv", rows_of_model());
  write_text(folder / "new.csv", "c,b\n0,1\n1,0\n");
  const Outcome made = test::hewn({"select", folder / "a.csv", "--target", "y", "--ignore", "sign", "--k",
                                   "2", "--to", folder / "m.json"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.out.find("R2 100.0 %"), std::string::npos) << made.out;
  const Outcome said = test::hewn({"predict", folder / "m.json", folder / "new.csv", "--json"});
  ASSERT_EQ(said.code, 0) << said.err;
  const Json json = Json::parse(said.out);
  EXPECT_NEAR(json.at("predictions")[0][0].get<double>(), 3, 1e-4);
  EXPECT_NEAR(json.at("predictions")[1][0].get<double>(), -1, 1e-4);
  EXPECT_EQ(test::hewn({"predict", folder / "m.json", folder / "new.csv", "--out", folder / "p.csv"}).code,
            0);
  EXPECT_EQ(read_file(folder / "p.csv").substr(0, 10), "row,\"y\"\n1,");

  const Outcome classes = test::hewn({"select", folder / "a.csv", "--target", "sign", "--ignore", "y", "--k",
                                      "2", "--to", folder / "c.json"});
  ASSERT_EQ(classes.code, 0) << classes.err;
  const Json told = Json::parse(test::hewn({"predict", folder / "c.json", folder / "new.csv", "--json"}).out);
  EXPECT_EQ(told.at("classes"), Json({"up", "down"}));
  EXPECT_EQ(told.at("names"), Json({"down", "up"}));
}

TEST(SelectModel, MistakesAreNamed) {
  const TempFolder folder;
  write_text(folder / "a.csv", rows_of_model());
  write_text(folder / "new.csv", "a,c\n0,1\n");
  const std::string model = folder / "m.json";
  EXPECT_EQ(test::hewn({"select", folder / "a.csv", "--ignore", "y", "--to", folder / "m.hewn"}).code, 2);
  ASSERT_EQ(test::hewn({"select", folder / "a.csv", "--target", "y", "--ignore", "sign", "--to", model}).code,
            0);
  const Outcome missing = test::hewn({"predict", model, folder / "new.csv"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("has no column \"b\", which the model needs"), std::string::npos) << missing.err;
  EXPECT_NE(
      test::hewn({"predict", model, folder / "new.csv", "--top-k", "2"}).err.find("top-k: does not apply"),
      std::string::npos);
  EXPECT_NE(test::hewn({"predict", model, folder / "a.csv", "--lambda", "1"}).err.find("one lambda only"),
            std::string::npos);
}

TEST(Theory, SaysWhatHoldsAndWhatDoesNot) {
  const Outcome outcome = test::hewn({"theory", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  int failing = 0;
  std::string names;
  for (const Json& one : Json::parse(outcome.out)) {
    EXPECT_EQ(one.at("holds"), one.at("expected")) << one.dump();
    failing += one.at("holds").get<bool>() ? 0 : 1;
    names += one.at("name").get<std::string>() + "\n";
  }
  EXPECT_EQ(failing, 3);
  for (const char* name : {"lemma 1", "lemma 2", "lemma 3", "lemma 4", "lemma 5", "theorem 1", "theorem 2"})
    EXPECT_NE(names.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace hewn
