// Images of a folder in one file: the same batches, and nothing believed of a damaged file.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/data/folders/jpeg.h"
#include "hewn/data/folders/pack.h"
#include "hewn/data/source.h"
#include "tests/data/clicks/support.h"
#include "tests/data/folders/support.h"

namespace hewn::data {
namespace {

class Pack : public testing::Test {
 protected:
  void SetUp() override { make_folder(folder_ / "data"); }

  Packed pack(const std::string& name, int64_t short_side = 0, size_t workers = 2) {
    PackRequest request;
    request.folder = folder_ / "data";
    request.file = folder_ / name;
    request.short_side = short_side;
    request.workers = workers;
    return pack_images(request);
  }
  std::unique_ptr<Source> open(const std::string& name) {
    DataOptions options;
    options.batch = 6;
    options.folders.image_size = 12;
    return open_source("imagefolder:" + (folder_ / name).string(), options);
  }

  test::TempFolder folder_;
};

TEST_F(Pack, GivesTheBatchesOfTheFolder) {
  const Packed packed = pack("all.pack");
  EXPECT_EQ(packed.images, 27);
  EXPECT_EQ(packed.resized, 0);
  const auto files = open("data");
  const auto one = open("all.pack");
  EXPECT_EQ(one->info().classes, 3);
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(at::equal(files->train_batch(1, i).input, one->train_batch(1, i).input));
    EXPECT_TRUE(at::equal(files->train_batch(1, i).target, one->train_batch(1, i).target));
  }
  for (int64_t i = 0; i < files->test_batches(); ++i) {
    EXPECT_TRUE(at::equal(files->test_batch(i).input, one->test_batch(i).input));
    EXPECT_TRUE(at::equal(files->test_batch(i).target, one->test_batch(i).target));
  }
}

TEST_F(Pack, MakesLargeImagesSmallerAndLeavesDamagedOnes) {
  put_image(folder_ / "data/train/n01/n01_0.JPEG", test::jpeg_bytes(test::wavy(300, 200, 3)));
  put_image(folder_ / "data/train/n01/n01_1.JPEG", "no image");
  const Packed packed = pack("small.pack", 40);
  EXPECT_EQ(packed.resized, 1);
  const ImagePack images(folder_ / "small.pack");
  JpegDecoder decoder;
  decoder.open(images.image(0));
  EXPECT_EQ(decoder.width(), 60);
  EXPECT_EQ(decoder.height(), 40);
  EXPECT_EQ(images.image(1), "no image");
  EXPECT_EQ(images.image(2), read_file(folder_ / "data/train/n01/n01_2.JPEG"));
  pack("again.pack", 40, 5);
  EXPECT_EQ(read_file(folder_ / "again.pack"), read_file(folder_ / "small.pack"));
}

TEST_F(Pack, OneThatWasMadeBeforeThereWereThreePartsOpens) {
  const std::filesystem::path old = std::filesystem::path(HEWN_SOURCE_DIR) / "tests/old/images.pack";
  const ImagePack pack(old);
  EXPECT_EQ(pack.images().classes, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(pack.images().whole);
  EXPECT_EQ(pack.images().validation.size(), 0U);
  ASSERT_EQ(pack.images().size(), 6U);
  EXPECT_EQ(pack.images().path(5), "val/b/3.JPEG");
  JpegDecoder decoder;
  for (size_t i = 0; i < 6; ++i) {
    decoder.open(pack.image(i));
    EXPECT_EQ(decoder.height(), 12);
  }
}

TEST_F(Pack, ADamagedFileIsRefused) {
  pack("all.pack");
  const std::string good = read_file(folder_ / "all.pack");
  const auto refused = [&](const std::string& bytes) {
    test::write_text(folder_ / "bad.pack", bytes);
    const std::string message = message_of([&] { const ImagePack opened(folder_ / "bad.pack"); });
    EXPECT_NE(message.find("bad.pack: "), std::string::npos) << message;
  };
  for (const size_t length : {size_t{0}, size_t{39}, good.size() / 2, good.size() - 1}) {
    refused(good.substr(0, length));
  }
  for (size_t at = 0; at < 40; ++at) {  // every byte of the header counts
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    refused(bad);
  }
  std::string bad = good;
  bad[good.size() - 3] = static_cast<char>(bad[good.size() - 3] ^ 1);  // an offset
  refused(bad);
}

}  // namespace
}  // namespace hewn::data
