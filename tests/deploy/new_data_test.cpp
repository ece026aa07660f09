// Images, folders of them and click logs through a model that has nothing but its own preprocessing.
#include "hewn/deploy/inputs/new_data.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "hewn/core/files.h"
#include "hewn/core/text.h"
#include "hewn/data/source.h"
#include "hewn/deploy/predictions_file.h"
#include "hewn/deploy/random_network.h"
#include "hewn/io/npz.h"
#include "hewn/runtime/preprocessing.h"
#include "hewn/train/network.h"
#include "tests/support/click_logs.h"
#include "tests/support/jpegs.h"
#include "tests/support/message.h"
#include "tests/support/pngs.h"
#include "tests/support/temp_folder.h"

namespace hewn::deploy {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

/// A network for what the source holds, through a file, so that nothing else is at hand.
OpenModel model_for(const data::Source& source, const TempFolder& folder) {
  const data::DataInfo& info = source.info();
  run::Options options = run::usual_options(info.kind);
  options.widths = {32, 16};
  options.prune.block = {4, 4};
  options.prune.min_blocks = 4;
  runtime::ModelData data = random_network(options, train::signature_of(info)).data;
  for (auto& [name, table] : data.tables) {
    for (float& value : table.values) value *= 1000;  // new tables are nearly zero
  }
  Preprocessing inputs = source.preprocessing();
  data.classes = inputs.classes;
  data.preprocessing = inputs.rule;
  data.arrays = inputs.arrays;
  runtime::write_model(folder / "m.hewn", data);
  return open_model(folder / "m.hewn", 1);
}

/// Sums may be rounded otherwise in batches of another size.
void expect_near(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5) << i;
}

class NewImagesPredicted : public testing::Test {
 protected:
  NewImagesPredicted() {
    const std::vector<std::string> names = {"cat", "dog, large", "emu"};
    for (int i = 0; i < 12; ++i) {
      const std::string folder = (i < 6 ? "data/train/" : "data/val/") + names[static_cast<size_t>(i % 3)];
      std::filesystem::create_directories(folder_ / folder);
      const test::Picture wave = test::wavy(20 + i, 31 - i, i);
      const bool png = i % 2 == 0;
      write_text(folder_ / folder / (std::to_string(i) + (png ? ".png" : ".jpg")),
                 png ? test::png_bytes({.width = wave.width, .height = wave.height, .value = wave.value})
                     : test::jpeg_bytes(wave));
    }
    data::DataOptions options;
    options.folders.image_size = 12;
    source_ = data::open_source("imagefolder:" + path("data"), options);
    model_.emplace(model_for(*source_, folder_));
    options_.on_message = [this](const std::string& text) { said_.push_back(text); };
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Predictions run(const std::vector<std::string>& arguments, const std::string& input = "") {
    std::istringstream in(input);
    return predict(*model_, arguments, in, options_);
  }

  TempFolder folder_;
  std::unique_ptr<data::Source> source_;
  std::optional<OpenModel> model_;
  NewDataOptions options_;
  std::vector<std::string> said_;
};

TEST_F(NewImagesPredicted, AsInEvaluation) {
  const Predictions expected = predict(*model_, "m.hewn", *source_, 0);
  write_text(folder_ / "data/val/notes.md", "text");
  for (const int64_t batch : {1, 4, 256}) {
    options_.batch = batch;
    options_.workers = batch;
    const Predictions got = run({path("data/val")});
    expect_near(got.logits, expected.logits);
    ASSERT_EQ(got.files.size(), 6U);
    EXPECT_EQ(got.files[0], path("data/val/cat/6.png"));
    EXPECT_EQ(got.classes[1], "dog, large");
  }
  ASSERT_EQ(said_.size(), 3U);
  EXPECT_EQ(said_[0],
            path("data/val") + ": 1 file is neither JPEG nor PNG and left out: " + path("data/val/notes.md"));

  const std::string jpeg = path("data/val/cat/9.jpg");
  const Predictions single = run({jpeg, "-", path("data/val/emu")}, read_file(path("data/val/cat/6.png")));
  EXPECT_EQ(single.samples, 4);
  EXPECT_EQ(single.files[1], "standard input");
  const auto row = [](const Predictions& from, int64_t i) {
    return std::vector<float>(from.logits.begin() + 3 * i, from.logits.begin() + 3 * (i + 1));
  };
  expect_near(row(single, 0), row(expected, 1));
  expect_near(row(single, 1), row(expected, 0));
  options_.limit = 5;
  EXPECT_EQ(run({path("data/val"), jpeg}).samples, 5);
  EXPECT_EQ(run({jpeg}).samples, 1);
}

TEST_F(NewImagesPredicted, BesideRawInputs) {
  const std::vector<float> values(static_cast<size_t>(model_->inputs()), 0.5F);
  write_text(folder_ / "x.npy", io::npy_bytes(1, model_->inputs(), values.data()));
  const Predictions got = run({path("x.npy"), path("data/val/cat/6.png"), "input=" + path("x.npy")});
  EXPECT_EQ(got.files, (std::vector<std::string>{"", path("data/val/cat/6.png"), ""}));
  EXPECT_NEAR(got.logits[0], got.logits[6], 1e-6);
  EXPECT_TRUE(run({path("x.npy")}).files.empty());
  EXPECT_EQ(message_of([&] { run({"input=" + path("data/val/cat/6.png")}); }),
            path("data/val/cat/6.png") + ": is an image file; give it without input= in front");
}

TEST_F(NewImagesPredicted, DamagedOnesAreNamed) {
  const std::string whole = read_file(path("data/val/cat/9.jpg"));
  write_text(folder_ / "data/val/cat/8.jpg", whole.substr(0, whole.size() / 2));
  EXPECT_TRUE(message_of([&] { run({path("data/val")}); }).starts_with(path("data/val/cat/8.jpg") + ": "));
  options_.bad_images = 0.5;
  EXPECT_EQ(run({path("data/val")}).samples, 6);
  EXPECT_TRUE(said_.back().ends_with("; it is left out")) << said_.back();
  EXPECT_TRUE(message_of([&] { run({path("data/val/cat/8.jpg")}); }).starts_with(path("data/val/cat/8.jpg")));
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_EQ(message_of([&] { run({path("empty")}); }), path("empty") + ": holds no JPEG or PNG files");
  EXPECT_EQ(message_of([&] { run({path("absent.png")}); }), path("absent.png") + ": no such file or folder");
  options_.workers = -1;
  EXPECT_TRUE(message_of([&] { run({path("data/val")}); }).starts_with("workers: expected"));
}

TEST_F(NewImagesPredicted, FilesAndNamesAreWritten) {
  const Predictions got = run({path("data/val/cat/6.png")});
  const std::vector<int64_t> top = got.top_of(0, 3);
  EXPECT_EQ(top[0], got.class_of(0));
  EXPECT_NEAR(got.probability_of(0, 0) + got.probability_of(0, 1) + got.probability_of(0, 2), 1, 1e-9);
  EXPECT_EQ(got.probability_of(0, top[0]), got.score_of(0));
  write_predictions(folder_ / "p.csv", got, 3);
  const std::string csv = read_file(folder_ / "p.csv");
  EXPECT_TRUE(
      csv.starts_with("sample,class,score,name,file,class_2,score_2,name_2,class_3,score_3,name_3\n0,"))
      << csv;
  EXPECT_NE(csv.find("," + path("data/val/cat/6.png") + ","), std::string::npos) << csv;
  EXPECT_NE(csv.find(",\"dog, large\""), std::string::npos) << csv;
  const Json json = to_json(got, 2);
  EXPECT_EQ(json["file"][0], got.files[0]);
  EXPECT_EQ(json["name"][0], got.classes[static_cast<size_t>(top[0])]);
  EXPECT_EQ(json["top"][0][1]["class"], top[1]);
  EXPECT_EQ(json["top"][0][1]["score"], got.probability_of(0, top[1]));
  EXPECT_FALSE(to_json(got).contains("top"));
  EXPECT_EQ(message_of([&] { check_top_k(4, got); }), "top-k: expected 1 to 3, got 4");
  EXPECT_NE(message_of([&] { check_top_k(0, got); }), "");
}

TEST(NewClicks, GetTheProbabilitiesOfTheTestSet) {
  const TempFolder folder;
  const std::string log = (folder / "log.tsv").string();
  write_text(folder / "log.tsv", test::criteo_rows(0, 2000));
  data::DataOptions options;
  options.clicks.min_count = 2;
  options.clicks.test_share = 0.9;
  options.clicks.validation_share = 0;
  const auto source = data::open_source("criteo:" + log, options);
  OpenModel model = model_for(*source, folder);
  const Predictions expected = predict(model, "m.hewn", *source, 0);
  std::istringstream in;
  const Predictions got = predict(model, {log}, in, {});
  ASSERT_EQ(got.samples, 2000);
  EXPECT_EQ(got.classes[1], "click");
  // The test set is most of the log, in its order.
  int64_t found = 0;
  for (const float logit : got.logits)
    found += found < expected.samples && std::abs(logit - expected.logits[static_cast<size_t>(found)]) < 1e-5F
                 ? 1
                 : 0;
  EXPECT_EQ(found, expected.samples);
  EXPECT_GT(found, 1500);
  // A folder of logs, and text that comes in. Numbers of values only as what they are.
  std::filesystem::create_directory(folder / "days");
  write_text(folder / "days/day_1.tsv", test::criteo_rows(5, 20));
  test::write_gzip(folder / "days/day_0.gz", test::criteo_rows(0, 5));
  std::istringstream text(test::criteo_rows(25, 3));
  const Predictions parts = predict(model, {(folder / "days").string(), "-"}, text, {});
  expect_near(parts.logits, {got.logits.begin(), got.logits.begin() + 28});
  write_text(
      folder / "numbers.csv", "0" + [] {
        std::string row;
        for (int i = 0; i < 38; ++i) row += ",0";
        return row;
      }());
  EXPECT_EQ(predict(model, {"input=" + (folder / "numbers.csv").string()}, in, {}).samples, 1);
  EXPECT_NE(message_of([&] {
              predict(model, {(folder / "numbers.csv").string()}, in, {});
            }).find("numbers.csv:1: expected 40 columns, or 39 without the label, got 1"),
            std::string::npos);
  write_text(folder / "a.png", test::plain_png(4, 4, 1, 2, 3));
  EXPECT_NE(message_of([&] {
              predict(model, {(folder / "a.png").string()}, in, {});
            }).find("is an image file; the model takes click logs"),
            std::string::npos);
  EXPECT_NE(message_of([&] { check_top_k(2, got); }), "");
}

TEST(NewData, APreprocessingThatDoesNotFitIsNamed) {
  run::Options options;
  options.widths = {8};
  options.prune.block = {2, 2};
  runtime::ModelData data = random_network(options, {{3, 8, 8}, 4}).data;
  data.preprocessing = {{"kind", "image"}, {"size", {9, 9}}};
  OpenModel model{runtime::Model(data)};
  std::istringstream in;
  EXPECT_TRUE(message_of([&] { predict(model, {"-"}, in, {}); }).starts_with("the model's preprocessing: "));
  data.preprocessing = {{"kind", "sounds"}};  // of a later version: numbers are taken as ever
  OpenModel later{runtime::Model(data)};
  EXPECT_NE(message_of([&] { predict(later, {"-"}, in, {}); }).find("standard input"), std::string::npos);
}

}  // namespace
}  // namespace hewn::deploy
