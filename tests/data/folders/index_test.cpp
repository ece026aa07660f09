// Which images there are: both layouts, and the index that saves listing them again.
#include <gtest/gtest.h>

#include <cstring>

#include "hewn/data/folders/index.h"
#include "tests/data/clicks/support.h"
#include "tests/data/folders/support.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;

class Folders : public testing::Test {
 protected:
  /// What is listed, through the index, and what was said about it.
  ImageListing listed() {
    said_.clear();
    return indexed_images(folder_.path(), "", [this](const std::string& text) { said_ += text + "\n"; });
  }
  std::string refusal() {
    return message_of([&] { list_images(folder_.path()); });
  }
  void expect_said(const std::string& part) const { EXPECT_NE(said_.find(part), std::string::npos) << said_; }

  test::TempFolder folder_;
  std::string said_;
};

TEST_F(Folders, ImageNetsLayout) {
  make_folder(folder_.path());
  put_image(folder_ / "train/n01/notes.txt", "no image");
  fs::create_directories(folder_ / "train/.hidden");
  const ImageListing images = list_images(folder_.path());
  EXPECT_EQ(images.classes, (std::vector<std::string>{"n01", "n02", "n03"}));
  ASSERT_EQ(images.train.size(), 21U);
  EXPECT_EQ(images.train.path(0), "train/n01/n01_0.JPEG");
  EXPECT_EQ(images.train.path(20), "train/n03/n03_6.JPEG");
  EXPECT_EQ(images.train.labels[6], 0U);
  EXPECT_EQ(images.train.labels[7], 1U);
  ASSERT_EQ(images.test.size(), 6U);
  EXPECT_EQ(images.test.path(5), "val/n03/v1.jpg");
  EXPECT_EQ(images.test.labels[5], 2U);
}

TEST_F(Folders, TinyImageNetsLayout) {
  for (const std::string name : {"n2", "n1"}) {
    put_image(folder_ / "train" / name / "images" / (name + "_0.JPEG"), small_jpeg(1));
    put_image(folder_ / "train" / name / (name + "_boxes.txt"), "");
  }
  for (const std::string name : {"val_0", "val_1", "val_2"}) {
    put_image(folder_ / "val/images" / (name + ".JPEG"), small_jpeg(2));
  }
  put_image(folder_ / "wnids.txt", "n2\nn1\n");
  put_image(folder_ / "val/val_annotations.txt",
            "val_1.JPEG\tn2\t0\t0\t62\t57\nval_0.JPEG\tn1\t0\t0\t1\t1\nval_2.JPEG\tn1\t0\t0\t1\t1\n");
  const ImageListing images = list_images(folder_.path());
  EXPECT_EQ(images.classes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(images.train.path(1), "train/n2/images/n2_0.JPEG");
  ASSERT_EQ(images.test.size(), 3U);
  EXPECT_EQ(images.test.path(1), "val/images/val_1.JPEG");
  EXPECT_EQ(images.test.labels, (std::vector<uint32_t>{0, 1, 0}));

  put_image(folder_ / "val/images/val_3.JPEG", small_jpeg(3));
  EXPECT_NE(refusal().find("val_annotations.txt: says nothing about val_3.JPEG"), std::string::npos);
  put_image(folder_ / "val/val_annotations.txt", "val_0.JPEG\tn1\nval_1.JPEG\tn7\n");
  EXPECT_NE(refusal().find("val_annotations.txt:2: there is no class \"n7\""), std::string::npos)
      << refusal();
  put_image(folder_ / "wnids.txt", "n1\nn2\nn3\n");
  EXPECT_NE(refusal().find("wnids.txt: there is no class \"n3\""), std::string::npos) << refusal();
}

TEST_F(Folders, WhatIsMissingIsNamed) {
  EXPECT_NE(refusal().find("train: no such folder"), std::string::npos) << refusal();
  fs::create_directories(folder_ / "train");
  EXPECT_NE(refusal().find("train: expected a folder for each class"), std::string::npos) << refusal();
  fs::create_directories(folder_ / "train/a");
  EXPECT_NE(refusal().find("train/a: holds no *.JPEG"), std::string::npos) << refusal();
  put_image(folder_ / "train/a/1.jpeg", small_jpeg(1));
  EXPECT_NE(refusal().find("val: no such folder"), std::string::npos) << refusal();
  put_image(folder_ / "val/b/1.jpeg", small_jpeg(1));
  EXPECT_NE(refusal().find("val/b: there is no class \"b\""), std::string::npos) << refusal();
  EXPECT_NE(message_of([&] { list_images(folder_ / "nowhere"); }).find("nowhere"), std::string::npos);
}

TEST_F(Folders, TheIndexIsUsedUntilAFolderChanges) {
  make_folder(folder_.path());
  make_old(folder_.path());
  const fs::path file = index_file(folder_.path(), "");
  listed();
  ASSERT_TRUE(fs::exists(file));
  // Renaming behind its back would show: the folder's time is put back.
  const auto then = fs::last_write_time(folder_ / "train/n01");
  fs::rename(folder_ / "train/n01/n01_0.JPEG", folder_ / "train/n01/moved.JPEG");
  fs::last_write_time(folder_ / "train/n01", then);
  EXPECT_EQ(listed().train.path(0), "train/n01/n01_0.JPEG");
  EXPECT_EQ(said_, "");

  fs::last_write_time(folder_ / "train/n01", then + std::chrono::seconds(1));
  const ImageListing images = listed();
  EXPECT_EQ(images.train.path(0), "train/n01/moved.JPEG");
  expect_said("train/n01: has changed");
  listed();
  EXPECT_EQ(said_, "");  // once is enough
  put_image(folder_ / "train/n04/1.JPEG", small_jpeg(1));
  EXPECT_EQ(listed().classes.size(), 4U);
  expect_said("train: has changed");
}

TEST_F(Folders, AFolderThatChangedAMomentAgoIsListedAgain) {
  make_folder(folder_.path());
  make_old(folder_.path());
  put_image(folder_ / "train/n01/late.JPEG", small_jpeg(1));
  listed();
  listed();
  expect_said("train/n01: has changed");
}

TEST_F(Folders, ADamagedIndexIsMadeAnew) {
  make_folder(folder_.path());
  make_old(folder_.path());
  const fs::path file = index_file(folder_.path(), "");
  const ImageListing first = listed();
  const std::string good = read_file(file);
  for (size_t at = 0; at < good.size(); at += 1 + good.size() / 97) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    test::write_text(file, bad);
    const ImageListing again = listed();
    EXPECT_EQ(again.train.text, first.train.text) << at;
    EXPECT_NE(said_, "") << at;
    EXPECT_EQ(read_file(file).size(), good.size());
  }
  for (const size_t length : {size_t{0}, size_t{10}, good.size() / 2, good.size() - 1}) {
    test::write_text(file, good.substr(0, length));
    EXPECT_EQ(listed().test.text, first.test.text) << length;
    expect_said("imagefolder.index");
  }
}

TEST_F(Folders, AnIndexOfAnEarlierVersionIsMadeAnew) {
  make_folder(folder_.path());
  make_old(folder_.path());
  const ImageListing first = listed();
  const fs::path file = index_file(folder_.path(), "");
  const std::string pack = read_file(fs::path(HEWN_SOURCE_DIR) / "tests/old/images.pack");
  const size_t begin = pack.find("HEWNIMG");
  uint64_t bytes = 0;
  std::memcpy(&bytes, pack.data() + begin + 24, sizeof(bytes));
  test::write_text(file, pack.substr(begin, 32 + bytes));
  EXPECT_EQ(listed().train.text, first.train.text);
  expect_said("imagefolder.index: is of an earlier version; listing the images anew");
  listed();
  EXPECT_EQ(said_, "");
}

TEST_F(Folders, AnIndexThatLiesWithAGoodChecksumIsRefused) {
  make_folder(folder_.path());
  ImageListing images = list_images(folder_.path());
  int64_t when = 0;
  EXPECT_EQ(parse_index(index_bytes(images, 5), "x", &when).seen.size(), images.seen.size());
  EXPECT_EQ(when, 5);
  const auto refused = [&](const ImageListing& wrong) {
    EXPECT_THROW(parse_index(index_bytes(wrong, 5), "x", &when), FormatError);
  };
  ImageListing wrong = images;
  wrong.train.labels[3] = 3;
  refused(wrong);
  wrong = images;
  wrong.test.ends[1] = 1000000;
  refused(wrong);
  wrong = images;
  wrong.test.labels.pop_back();
  refused(wrong);
}

TEST_F(Folders, AnIndexThatCannotBeKeptIsSaid) {
  make_folder(folder_.path());
  test::write_text(folder_ / "file", "");
  std::string said;
  const auto images = indexed_images(folder_.path(), (folder_ / "file").string(),
                                     [&](const std::string& text) { said = text; });
  EXPECT_EQ(images.train.size(), 21U);
  EXPECT_NE(said.find("not kept"), std::string::npos) << said;
  EXPECT_NE(said.find("another folder as cache"), std::string::npos) << said;
}

}  // namespace
}  // namespace hewn::data
