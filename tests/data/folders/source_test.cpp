// Batches of image folders: the same whatever the workers, and whatever else was damaged.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <new>
#include <set>

#include "hewn/data/source.h"
#include "tests/data/clicks/support.h"
#include "tests/data/folders/support.h"

namespace hewn::data {
namespace {

class FolderSource : public testing::Test {
 protected:
  void SetUp() override { make_folder(folder_.path()); }

  std::unique_ptr<Source> open(int64_t workers, double bad_images = 0, uint64_t seed = 5) {
    DataOptions options;
    options.batch = 4;
    options.seed = seed;
    options.folders.image_size = 16;
    options.folders.workers = workers;
    options.folders.bad_images = bad_images;
    options.on_message = [this](const std::string& text) { said_.push_back(text); };
    return open_source("imagefolder:" + folder_.path().string(), options);
  }

  test::TempFolder folder_;
  std::vector<std::string> said_;
};

TEST_F(FolderSource, SaysWhatItHolds) {
  const auto source = open(2);
  EXPECT_EQ(source->info().input, (std::vector<int64_t>{3, 16, 16}));
  EXPECT_EQ(source->info().classes, 3);
  EXPECT_EQ(source->train_batches(), 5);
  EXPECT_EQ(source->test_batches(), 2);
  EXPECT_EQ(source->test_batch(1).target.numel(), 2);
  std::set<int64_t> labels;
  for (int64_t i = 0; i < 5; ++i) {
    const Batch batch = source->train_batch(0, i);
    EXPECT_EQ(batch.input.sizes(), (at::IntArrayRef{4, 3, 16, 16}));
    for (int64_t j = 0; j < 4; ++j) labels.insert(batch.target[j].item<int64_t>());
  }
  EXPECT_EQ(labels.size(), 3U);
}

TEST_F(FolderSource, BatchesDoNotDependOnTheWorkersOrOnWhatWasAskedBefore) {
  const auto one = open(1);
  const auto many = open(5);
  for (const int64_t epoch : {0, 1}) {
    for (int64_t i = 0; i < 5; ++i) {
      const Batch a = one->train_batch(epoch, i);
      const Batch b = many->train_batch(epoch, i);
      EXPECT_TRUE(at::equal(a.input, b.input)) << epoch << " " << i;
      EXPECT_TRUE(at::equal(a.target, b.target));
    }
  }
  for (int64_t i = 0; i < 2; ++i) EXPECT_TRUE(at::equal(one->test_batch(i).input, many->test_batch(i).input));
  const Batch late = open(2)->train_batch(3, 2);  // without those before it
  EXPECT_TRUE(at::equal(late.input, one->train_batch(3, 2).input));
  EXPECT_TRUE(at::equal(late.input, many->train_batch(3, 2).input));  // and backwards
  EXPECT_TRUE(at::equal(one->train_batch(0, 1).input, many->train_batch(0, 1).input));
  EXPECT_FALSE(at::equal(late.input, open(1, 0, 6)->train_batch(3, 2).input));
}

TEST_F(FolderSource, NormalisesAsImageNetsNetworksExpect) {
  for (const std::string name : {"n01", "n02", "n03"}) {
    for (int i = 0; i < 2; ++i) {
      put_image(folder_ / "val" / name / ("v" + std::to_string(i) + ".jpg"),
                test::plain_jpeg(30, 20, 200, 100, 50));
    }
  }
  const at::Tensor got = open(1)->test_batch(0).input;
  const double mean[3] = {0.485, 0.456, 0.406};
  const double deviation[3] = {0.229, 0.224, 0.225};
  const double value[3] = {200, 100, 50};
  for (int64_t c = 0; c < 3; ++c) {
    const double expected = (value[c] / 255 - mean[c]) / deviation[c];
    EXPECT_LT((got.select(1, c) - expected).abs().max().item<double>(), 0.03) << c;
  }
}

TEST_F(FolderSource, ADamagedImageIsGreyAndChangesNoOther) {
  std::vector<Batch> before;
  for (int64_t i = 0; i < 5; ++i) before.push_back(open(2)->train_batch(0, i));
  const auto source = open(3, 0.2);
  said_.clear();  // folders made a moment ago are listed again
  const std::string good = read_file(folder_ / "train/n02/n02_3.JPEG");
  test::write_text(folder_ / "train/n02/n02_3.JPEG", "no JPEG at all");
  test::write_text(folder_ / "train/n01/n01_5.JPEG", good.substr(0, 200));
  std::filesystem::remove(folder_ / "train/n03/n03_1.JPEG");  // gone since it was listed
  int64_t changed = 0;
  for (int64_t i = 0; i < 5; ++i) {
    const Batch after = source->train_batch(0, i);
    EXPECT_TRUE(at::equal(after.target, before[static_cast<size_t>(i)].target));
    for (int64_t j = 0; j < 4; ++j) {
      if (at::equal(after.input[j], before[static_cast<size_t>(i)].input[j])) continue;
      ++changed;
      EXPECT_LT(after.input[j].abs().max().item<double>(), 0.02);  // the mean colour
    }
  }
  const auto named = static_cast<int64_t>(said_.size());
  EXPECT_EQ(changed, named);
  EXPECT_GE(changed, 2);  // an epoch leaves one image out
  for (const std::string& text : said_)
    EXPECT_NE(text.find("a grey image takes its place"), std::string::npos);
  for (int64_t i = 0; i < 5; ++i) source->train_batch(0, i);
  EXPECT_EQ(static_cast<int64_t>(said_.size()), named);  // each is named once
}

TEST_F(FolderSource, TooManyDamagedImagesAreAnError) {
  test::write_text(folder_ / "train/n02/n02_3.JPEG", "no JPEG at all");
  const auto strict = open(2);
  const std::string message = message_of([&] {
    for (int64_t i = 0; i < 5; ++i) strict->train_batch(0, i);
    for (int64_t i = 0; i < 5; ++i) strict->train_batch(1, i);
  });
  EXPECT_NE(message.find("n02_3.JPEG: is neither a JPEG nor a PNG file"), std::string::npos) << message;
  EXPECT_NE(message.find("1 of 27 images are damaged, bad-images"), std::string::npos) << message;
}

}  // namespace
}  // namespace hewn::data
