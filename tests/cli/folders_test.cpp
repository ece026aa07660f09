// Image folders through the program: from JPEG files to a pruned model, killed on the way.
#include <gtest/gtest.h>

#include <algorithm>

#include "hewn/core/files.h"
#include "hewn/core/json.h"
#include "tests/support/jpegs.h"
#include "tests/support/program.h"
#include "tests/support/temp_folder.h"

namespace hewn::test {
namespace {

class FolderRuns : public testing::Test {
 protected:
  void SetUp() override {
    for (int label = 0; label < 3; ++label) {
      for (int i = 0; i < 40; ++i) put(i < 32 ? "train" : "val", label, i);
    }
  }

  /// Classes differ in colour.
  void put(const std::string& part, int label, int i) const {
    const auto place = folder_ / "data" / part / ("class" + std::to_string(label));
    std::filesystem::create_directories(place);
    const auto tint = [&](int c) { return c == label ? 200 + i % 20 : 60 + i; };
    write_text(place / (std::to_string(i) + ".JPEG"), plain_jpeg(20 + i % 3, 18, tint(0), tint(1), tint(2)));
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> train(const std::string& run, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {
        "train",    "--quiet",      "--json",      "--data",   "imagefolder:" + path("data"),
        "--widths", "64,64",        "--block",     "8",        "--image-size",
        "12",       "--batch",      "16",          "--epochs", "6",
        "--lr",     "0.05",         "--log-every", "5",        "--threads",
        "2",        "--min-blocks", "10",          "--out",    path(run)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  TempFolder folder_;
};

TEST_F(FolderRuns, FromFilesToAPrunedModel) {
  const Outcome trained = hewn(train("run"));
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Json summary = Json::parse(trained.out);
  EXPECT_GT(summary["metrics"]["accuracy"].get<double>(), 90);
  EXPECT_NEAR(summary["realised_sparsity"].get<double>(), 0.9, 0.05);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "data/.hewn-cache/imagefolder.index"));
  const Outcome evaluated = hewn({"eval", path("run"), "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(Json::parse(evaluated.out)["metrics"], summary["metrics"]);
  // The weights alone do not say how large their images are.
  const Outcome weights =
      hewn({"eval", path("run/model.safetensors"), "--model", "mlp", "--widths", "64,64", "--stem", "auto",
            "--data", "imagefolder:" + path("data"), "--image-size", "12", "--json"});
  ASSERT_EQ(weights.code, 0) << weights.err;
  EXPECT_EQ(Json::parse(weights.out)["metrics"]["accuracy"], summary["metrics"]["accuracy"]);
  ASSERT_EQ(hewn({"export", path("run"), "--to", path("model.hewn")}).code, 0);
  const std::vector<std::string> predict = {"predict", path("model.hewn"), "--data",
                                            "imagefolder:" + path("data"), "--json"};
  std::vector<std::string> fitting = predict;
  fitting.insert(fitting.end(), {"--image-size", "12"});
  const Outcome predicted = hewn(fitting);
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(Json::parse(predicted.out)["metrics"]["accuracy"], summary["metrics"]["accuracy"]);
  EXPECT_NE(hewn(predict).err.find("takes inputs of"), std::string::npos);

  // With the model file alone, and images that nobody has labelled.
  std::filesystem::rename(folder_ / "data/val", folder_ / "new");
  test::remove_tree(folder_ / "data");
  test::remove_tree(folder_ / "run");
  write_text(folder_ / "new/notes.txt", "no image");
  const Outcome fresh = hewn({"predict", path("model.hewn"), path("new"), "--json"});
  ASSERT_EQ(fresh.code, 0) << fresh.err;
  EXPECT_NE(fresh.err.find("1 file is neither JPEG nor PNG and left out"), std::string::npos) << fresh.err;
  const Json json = Json::parse(fresh.out);
  ASSERT_EQ(json["samples"], 24);
  double right = 0;
  for (size_t i = 0; i < 24; ++i) {
    const auto label = std::filesystem::path(json["file"][i].get<std::string>()).parent_path().filename();
    right += json["name"][i] == label.string() ? 1 : 0;
  }
  EXPECT_NEAR(100 * right / 24, summary["metrics"]["accuracy"].get<double>(), 1e-3);
  const Outcome shown =
      hewn({"predict", path("model.hewn"), json["file"][0].get<std::string>(), "--top-k", "2"});
  EXPECT_TRUE(shown.out.find("file") == 0 && shown.out.find("class0") != std::string::npos) << shown.out;
  const Outcome inspected = hewn({"inspect", path("model.hewn")});
  EXPECT_NE(inspected.out.find("classes: class0, class1, class2\ntakes: JPEG and PNG files; short side 12"),
            std::string::npos)
      << inspected.out;
}

TEST_F(FolderRuns, AKilledRunGoesOnWithOtherWorkersToTheSameBits) {
  const std::vector<std::string> often = {"--epochs", "30", "--checkpoint-every", "5", "--workers"};
  const auto with = [&](const std::string& workers) {
    std::vector<std::string> words = often;
    words.push_back(workers);
    return words;
  };
  ASSERT_EQ(hewn(train("whole", with("1"))).code, 0);
  const auto ready = [&] {
    return std::filesystem::exists(folder_ / "killed/metrics.jsonl") &&
           read_file(folder_ / "killed/metrics.jsonl").size() > 2000;
  };
  ASSERT_TRUE(hewn_killed_when(train("killed", with("3")), ready, 5));
  std::vector<std::string> resumed = train("killed", with("2"));
  resumed.emplace_back("--resume");
  const Outcome last = hewn(resumed);
  ASSERT_EQ(last.code, 0) << last.err;
  for (const char* name : {"model.safetensors", "metrics.jsonl"}) {
    EXPECT_EQ(read_file(folder_ / "whole" / name), read_file(folder_ / "killed" / name)) << name;
  }
}

TEST_F(FolderRuns, APackTrainsToTheSameBits) {
  const Outcome packed =
      hewn({"prepare", "--data", "imagefolder:" + path("data"), "--pack", path("all.pack"), "--json"});
  ASSERT_EQ(packed.code, 0) << packed.err;
  EXPECT_EQ(Json::parse(packed.out)["images"], 120);
  ASSERT_EQ(hewn(train("files", {"--steps", "10"})).code, 0);
  const Outcome trained =
      hewn(train("packed", {"--steps", "10", "--data", "imagefolder:" + path("all.pack")}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(read_file(folder_ / "files/model.safetensors"), read_file(folder_ / "packed/model.safetensors"));

  write_text(folder_ / "other", "no pack, though long enough to have a header");
  const Outcome other = hewn(train("wrong", {"--data", "imagefolder:" + path("other")}));
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("other: is no pack of images"), std::string::npos) << other.err;
  const Outcome nowhere = hewn({"prepare", "--data", "imagefolder:" + path("data")});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_NE(nowhere.err.find("--pack FILE"), std::string::npos) << nowhere.err;
}

TEST_F(FolderRuns, DamagedImagesAreToleratedUpToAShare) {
  write_text(folder_ / "data/train/class1/7.JPEG", "no image");
  const Outcome strict = hewn(train("strict"));
  EXPECT_EQ(strict.code, 2);
  EXPECT_EQ(std::count(strict.err.begin(), strict.err.end(), '\n'), 1) << strict.err;
  EXPECT_NE(strict.err.find("class1/7.JPEG"), std::string::npos) << strict.err;
  EXPECT_NE(strict.err.find("bad-images allows"), std::string::npos) << strict.err;
  EXPECT_EQ(hewn(train("lenient", {"--bad-images", "0.05"})).code, 0);
}

TEST_F(FolderRuns, WhatDoesNotFitIsRefusedInOneLine) {
  const auto refuses = [&](const std::vector<std::string>& more, const std::string& said) {
    const Outcome outcome = hewn(train("wrong", more));
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "wrong"));
  };
  refuses({"--data", "imagefolder"}, "give data as imagefolder:FOLDER");
  refuses({"--data", "imagefolder:" + path("nowhere")}, "nowhere");
  refuses({"--data", "imagefolder:" + path("data/train/class0")}, "train and val");
  refuses({"--image-size", "0"}, "image-size: expected 1 to");
  refuses({"--eval-resize", "8"}, "eval-resize: expected at least the image size 12");
  refuses({"--crop-area", "1.5"}, "crop-area: expected a share");
  refuses({"--workers", "-1"}, "workers: expected 0 to");
  refuses({"--bad-images", "1"}, "bad-images: expected a share");
  refuses({"--eval-on", "validation"}, "has no validation part");
  refuses({"--model", "ctr-dnn"}, "ctr-dnn: takes click logs");
}

}  // namespace
}  // namespace hewn::test
