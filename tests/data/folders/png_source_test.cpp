// Batches of PNG files: what a network sees of them, and damaged ones among them.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/data/source.h"
#include "tests/data/clicks/support.h"
#include "tests/data/folders/support.h"
#include "tests/support/pngs.h"

namespace hewn::data {
namespace {

class PngSource : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 10; ++i) {
      put_image(folder_ / ("train/a/" + std::to_string(i) + ".png"), test::plain_png(30, 20, 200, 100, 50));
    }
    put_image(folder_ / "val/a/1.png", test::plain_png(30, 20, 200, 100, 50));
  }
  std::unique_ptr<Source> open(double bad_images) {
    DataOptions options;
    options.batch = 5;
    options.folders.image_size = 16;
    options.folders.bad_images = bad_images;
    options.on_message = [this](const std::string& text) { said_ = text; };
    return open_source("imagefolder:" + folder_.path().string(), options);
  }

  test::TempFolder folder_;
  std::string said_;
};

TEST_F(PngSource, PixelsArriveAsTheyAre) {
  const at::Tensor got = open(0)->test_batch(0).input;
  const double mean[3] = {0.485, 0.456, 0.406};
  const double deviation[3] = {0.229, 0.224, 0.225};
  const double value[3] = {200, 100, 50};
  for (int64_t c = 0; c < 3; ++c) {
    const double expected = (value[c] / 255 - mean[c]) / deviation[c];
    EXPECT_LT((got.select(1, c) - expected).abs().max().item<double>(), 1e-5) << c;
  }
}

TEST_F(PngSource, DamagedFilesAreNamedAndToleratedUpToAShare) {
  const std::string good = read_file(folder_ / "train/a/7.png");
  put_image(folder_ / "train/a/7.png", good.substr(0, good.size() / 2));
  const auto epoch = [](Source& source) {
    for (int64_t i = 0; i < 2; ++i) source.train_batch(0, i);
  };
  const std::string message = message_of([&] { epoch(*open(0)); });
  EXPECT_NE(message.find("train/a/7.png: "), std::string::npos) << message;
  EXPECT_NE(message.find("1 of 11 images are damaged, bad-images"), std::string::npos) << message;
  epoch(*open(0.1));
  EXPECT_NE(said_.find("7.png: "), std::string::npos) << said_;
  EXPECT_NE(said_.find("a grey image takes its place"), std::string::npos) << said_;
}

}  // namespace
}  // namespace hewn::data
