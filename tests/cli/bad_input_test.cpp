// Bad input: one line on standard error that names what is wrong, exit code 2, nothing left behind.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "hewn/core/files.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::test {
namespace {

void expect_error(const std::vector<std::string>& arguments, const std::string& named) {
  const Outcome outcome = hewn(arguments);
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find(named), std::string::npos) << outcome.err;
  EXPECT_TRUE(outcome.out.empty()) << outcome.out;
}

class BadInput : public testing::Test {
 protected:
  void SetUp() override { write_tiny_mnist(folder_ / "data", 600, 100); }

  std::vector<std::string> train(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"train",    "--quiet",
                                      "--data",   "mnist:" + (folder_ / "data").string(),
                                      "--epochs", "1",
                                      "--batch",  "50",
                                      "--out",    (folder_ / "run").string()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  TempFolder folder_;
};

TEST_F(BadInput, UnknownNames) {
  expect_error({"train", "--sparsty", "0.9"}, "--sparsity");
  expect_error({"trian"}, "trian");
  expect_error({}, "subcommand");
  expect_error({"eval"}, "SOURCE");
  expect_error(train({"--method", "magic"}), "sa++r");
  expect_error(train({"--model", "resnet51"}), "resnet50");
  expect_error(train({"--score", "x"}), "attention");
  expect_error(train({"--schedule", "x"}), "acdc/imagenet");
  expect_error({"train", "--data", "imagenet"}, "cifar10");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

TEST_F(BadInput, ConfigFiles) {
  write_text(folder_ / "a.toml", "sparsity = 0.5\nblok = 8\n");
  expect_error(train({"--config", (folder_ / "a.toml").string()}), "block");
  write_text(folder_ / "a.toml", "[eval]\nsparsity = 0.5\n");
  expect_error(train({"--config", (folder_ / "a.toml").string()}),
               "a.toml: line 1: this section means nothing here");
  write_text(folder_ / "a.toml", "sparsity = 1.5\n");
  expect_error(train({"--config", (folder_ / "a.toml").string()}), "a.toml: line 1: sparsity: expected");
  const auto config = [&](const std::string& text, const std::string& said) {
    write_text(folder_ / "a.toml", text);
    expect_error({"train", "--config", (folder_ / "a.toml").string()}, said);
  };
  config("epochs = 1\nwidths = [512, 256", "a.toml: line 2: a list does not end");
  config("epochs = 1\nepochs = 2\n", "line 2: epochs is given twice, first in line 1");
  config("epochs = 1\n[train]\nepochs = 2\n", "line 3: epochs is given twice, first in line 1");
  config("epochs = 1\nwidths\n", "line 2: expected = behind widths");
  config("data = \"mnist:a # b\n", "line 1: the text in quotes does not end on its line");
  config("data = \"mnist:/none # b\"\n", "/none # b");
  config("", "says nothing");
  config("epochs = 1\nlr = nan\n", "line 2: lr: expected a number");
  config("widths = " + std::string(50000, '[') + std::string(50000, ']'), "lists inside lists");
  config("epochs = " + std::string(2 << 20, '1'), "is too large");
  config(std::string("epochs = 1\n\xff\n"), "line 2: expected UTF-8");
  expect_error({"train", "--config", folder_.path().string()}, "it is a folder");
  write_text(folder_ / "a.toml", "epochs = many\n");
  expect_error({"train", "--config", (folder_ / "a.toml").string()},
               "a.toml: line 1: expected a number, true, false, a text in quotes");
  expect_error(train({"--config", (folder_ / "none.toml").string()}), "none.toml");
}

TEST_F(BadInput, Values) {
  expect_error(train({"--alpha", "nan"}), "alpha: expected a number");
  expect_error(train({"--lr", "inf"}), "lr: expected a number");
  expect_error(train({"--threads", "2000"}), "threads: expected 0 to 1024");
  expect_error(train({"--widths", "9999999"}), "widths: expected 1 to 1048576 each");
  expect_error(train({"--widths", "1000000,1000000"}), "widths: the weights would take");
  expect_error(train({"--data", "mnist:\xff"}), "data: expected UTF-8 text, got mnist:\\xff");
  expect_error(train({"--steps", "3"}), "steps: 3 are too few for schedule");
  expect_error(train({"--block", "2048"}), "2048x2048");
  expect_error(train({"--block", "0"}), "block");
  expect_error(train({"--block", "600"}), "min-blocks");
  for (const char* sparsity : {"1", "1.5", "-0.1", "nan"})
    expect_error(train({"--sparsity", sparsity}), "sparsity");
  expect_error(train({"--epochs", "0"}), "epochs");
  expect_error(train({"--lr", "-1"}), "lr");
  expect_error(train({"--seed", "x"}), "seed");
  expect_error(train({"--device", "tpu"}), "device");
  expect_error(train({"--device", "cuda:99"}), "cuda");
  expect_error(train({"--score", "powerprop", "--schedule", "acdc", "--drop", "zero"}),
               "drop: zero does not go with score powerprop");
  expect_error({"phases", "--steps", "0"}, "step");
  expect_error({"plan", "--model", "resnet50", "--block", "100000"}, "larger than every layer");
}

TEST_F(BadInput, ClickLogs) {
  const std::string log = (folder_ / "a.tsv").string();
  write_text(log, "0\t1\n");
  expect_error({"prepare"}, "data");
  expect_error({"prepare", "--data", "mnist:" + log}, "only click logs");
  expect_error({"prepare", "--data", "criteo:/nowhere"}, "/nowhere");
  expect_error({"prepare", "--data", "ctr-csv:" + log}, "give a schema");
  expect_error({"prepare", "--data", "criteo:" + log, "--split", "week"}, "split");
  expect_error({"prepare", "--data", "criteo:" + log, "--threads", "-1"}, "threads");
  expect_error({"prepare", "--data", "criteo:" + log, "--cache", log}, "another folder for the cache");
  write_text(log, "");
  expect_error({"prepare", "--data", "criteo:" + log}, "no rows");
}

TEST_F(BadInput, DataFiles) {
  expect_error({"train", "--data", "mnist:" + (folder_ / "nowhere").string()}, "nowhere");
  const auto images = folder_ / "data" / "train-images-idx3-ubyte";
  const std::string whole = read_file(images);
  write_text(images, whole.substr(0, whole.size() / 2));
  expect_error(train({}), "train-images-idx3-ubyte");
  std::filesystem::remove(images);
  expect_error(train({}), "train-images-idx3-ubyte");
}

TEST_F(BadInput, OutputFolders) {
  write_text(folder_ / "file", "");
  expect_error(train({"--out", (folder_ / "file" / "run").string()}), "file");
  if (geteuid() != 0) expect_error(train({"--out", "/proc/hewn-run"}), "/proc/hewn-run");
}

TEST_F(BadInput, ResumeWithAnotherModel) {
  ASSERT_EQ(hewn(train({"--widths", "96,96", "--block", "8", "--min-blocks", "20"})).code, 0);
  expect_error(train({"--widths", "96,96", "--block", "8", "--min-blocks", "20"}), "resume it");
  expect_error(train({"--resume", "--model", "resnet20"}), "resnet20");
  expect_error(train({"--resume", "--widths", "64"}), "widths");
  expect_error({"train", "--resume"}, "--out");
  expect_error({"eval", (folder_ / "nothing").string()}, "no such file or folder");
  expect_error({"inspect", (folder_ / "data").string()}, "config.json");
  write_text(folder_ / "run" / "model.safetensors", "garbage");
  expect_error({"eval", (folder_ / "run").string()}, "model.safetensors");
}

TEST_F(BadInput, DivergenceNamesStepAndPhase) {
  const Outcome outcome =
      hewn(train({"--lr", "1e8", "--widths", "96,96", "--block", "8", "--min-blocks", "20"}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("diverged at step"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("phase"), std::string::npos) << outcome.err;
  // After its only step the weights are finite, and what they compute is not.
  std::vector<std::string> words =
      train({"--method", "dense", "--widths", "16", "--steps", "1", "--lr", "1e38", "--warmup", "0"});
  *std::find(words.begin(), words.end(), (folder_ / "run").string()) += "2";
  expect_error(words, "training diverged: ");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run2/summary.json"));
}

}  // namespace
}  // namespace hewn::test
