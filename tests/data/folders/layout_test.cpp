// What a folder may look like, and which of its images are trained with, validated with and tested with.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>

#include "hewn/core/random.h"
#include "hewn/data/folders/index.h"
#include "hewn/data/folders/pack.h"
#include "hewn/data/folders/parts.h"
#include "hewn/data/plumbing/hash.h"
#include "hewn/data/source.h"
#include "tests/data/clicks/support.h"
#include "tests/data/folders/support.h"

namespace hewn::data {
namespace {

class Layouts : public testing::Test {
 protected:
  void put(const std::string& path) { put_image(folder_ / "data" / path, small_jpeg(number_++)); }
  std::filesystem::path data() const { return folder_ / "data"; }

  std::vector<std::string> paths(const std::vector<size_t>& numbers) const {
    const ImageListing images = list_images(data());
    std::vector<std::string> out;
    for (const size_t i : numbers) out.emplace_back(images.path(i));
    return out;
  }
  ImageParts parts(Part evaluate_on = Part::kTest) const {
    return image_parts(list_images(data()), shares_, evaluate_on);
  }
  std::string refusal(Part evaluate_on = Part::kTest) const {
    return message_of([&] { parts(evaluate_on); });
  }
  void expect_refusal(const std::string& part, Part evaluate_on = Part::kTest) const {
    EXPECT_NE(refusal(evaluate_on).find(part), std::string::npos) << refusal(evaluate_on);
  }
  /// Three classes of 40, with nothing above them.
  void put_classes() {
    for (const std::string name : {"cat", "dog", "owl"}) {
      for (int i = 0; i < 40; ++i) put(name + "/" + std::to_string(i) + ".jpg");
    }
  }
  /// Which part each image of a folder of classes is in.
  std::map<std::string, char> by_path() const {
    std::map<std::string, char> out;
    for (const std::string& path : paths(parts().train)) out[path] = 'r';
    for (const std::string& path : paths(parts().held_out)) out[path] = 't';
    for (const std::string& path : paths(parts(Part::kValidation).held_out)) out[path] = 'v';
    return out;
  }
  std::unique_ptr<Source> open(const std::filesystem::path& path, Part evaluate_on = Part::kTest) {
    DataOptions options;
    options.batch = 8;
    options.evaluate_on = evaluate_on;
    options.clicks = shares_;
    options.folders.image_size = 8;
    options.folders.workers = 2;
    options.on_message = [this](const std::string& text) { said_ += text + "\n"; };
    return open_source("imagefolder:" + path.string(), options);
  }

  test::TempFolder folder_;
  ClickOptions shares_;
  std::string said_;
  int number_ = 0;
};

using Paths = std::vector<std::string>;

TEST_F(Layouts, TrainWithValOrTestOrBoth) {
  put("train/a/1.jpg");
  put("train/b/2.jpg");
  put("val/b/3.jpg");  // that a class is missing in it is fine
  EXPECT_EQ(paths(parts().train), (Paths{"train/a/1.jpg", "train/b/2.jpg"}));
  EXPECT_EQ(paths(parts().held_out), (Paths{"val/b/3.jpg"}));
  expect_refusal("has no validation part", Part::kValidation);
  put("test/a/4.jpg");
  EXPECT_EQ(paths(parts().train), (Paths{"train/a/1.jpg", "train/b/2.jpg"}));
  EXPECT_EQ(paths(parts().held_out), (Paths{"test/a/4.jpg"}));
  EXPECT_EQ(paths(parts(Part::kValidation).held_out), (Paths{"val/b/3.jpg"}));
  const ImageListing images = list_images(data());
  EXPECT_EQ(images.label(2), 1U);
  EXPECT_EQ(images.label(3), 0U);
  test::remove_tree(data() / "val");
  EXPECT_EQ(paths(parts().held_out), (Paths{"test/a/4.jpg"}));
  expect_refusal("has no validation part", Part::kValidation);
}

TEST_F(Layouts, OtherNamesOfVal) {
  for (const std::string name : {"val", "valid", "validation"}) {
    test::remove_tree(data());
    put("train/a/1.jpg");
    put(name + "/a/2.jpg");
    EXPECT_EQ(paths(parts().held_out), (Paths{name + "/a/2.jpg"}));
    put("test/a/3.jpg");
    EXPECT_EQ(paths(parts(Part::kValidation).held_out), (Paths{name + "/a/2.jpg"}));
  }
  put("val/a/2.jpg");
  expect_refusal("validation: expected one validation part, found val too");
}

TEST_F(Layouts, TestImagesWithoutLabelsAreLeftAlone) {
  put("train/a/1.jpg");
  put("val/a/2.jpg");
  put("test/3.jpg");  // ImageNet
  EXPECT_EQ(paths(parts().held_out), (Paths{"val/a/2.jpg"}));
  put("test/images/3.jpg");  // Tiny-ImageNet
  std::filesystem::remove(data() / "test/3.jpg");
  EXPECT_EQ(paths(parts().held_out), (Paths{"val/a/2.jpg"}));
}

TEST_F(Layouts, WhatDoesNotFitIsNamed) {
  put("val/a/1.jpg");
  expect_refusal("data/train: no such folder; expected train and val or test");
  put("train/a/1.jpg");
  put("test/a/1.jpg");
  put("val/b/1.jpg");
  expect_refusal("val/b: there is no class \"b\" in train/");
  test::remove_tree(data() / "val");
  put("test/c/1.jpg");
  expect_refusal("test/c: there is no class \"c\" in train/");
  test::remove_tree(data() / "test");
  expect_refusal("val: no such folder; expected val or test beside train");
  test::remove_tree(data());
  put("1.jpg");
  expect_refusal("or a folder for each class, in");
}

TEST_F(Layouts, ClassFoldersAloneAreDivided) {
  put_classes();
  put("train/1.jpg");  // a class like any other, since it holds no folders
  const auto before = by_path();
  ASSERT_EQ(before.size(), 121U);
  EXPECT_EQ(list_images(data()).classes, (Paths{"cat", "dog", "owl", "train"}));
  std::map<char, int> sizes;
  for (const auto& [path, part] : before) {
    ++sizes[part];
    const double position = unit(draw(0, Stream::kSplit, 0, hash_text(path))[0]);  // as rows of click logs
    EXPECT_EQ(part, position < 0.1 ? 't' : position < 0.2 ? 'v' : 'r') << path;
  }
  EXPECT_NEAR(sizes['t'], 12, 9);
  EXPECT_NEAR(sizes['v'], 12, 9);

  for (int i = 0; i < 30; ++i) put("cat/a" + std::to_string(i) + ".jpg");  // before the others
  for (int i = 0; i < 5; ++i) put("bat/" + std::to_string(i) + ".jpg");
  const auto after = by_path();
  EXPECT_EQ(after.size(), 156U);
  for (const auto& [path, part] : before) EXPECT_EQ(after.at(path), part) << path;
}

TEST_F(Layouts, SharesSayHowTheyAreDivided) {
  put_classes();
  const auto tenth = parts().held_out;
  shares_.test_share = 0.5;
  const auto half = parts().held_out;
  EXPECT_NEAR(static_cast<double>(half.size()), 60, 25);
  for (const size_t i : tenth) EXPECT_NE(std::find(half.begin(), half.end(), i), half.end());
  shares_.validation_share = 0;
  expect_refusal("none is in the validation part; raise validation-share", Part::kValidation);
  shares_.test_share = 0;
  EXPECT_NE(refusal().find("of 120 images none is in the test part; raise test-share"), std::string::npos);
  shares_.test_share = 1;
  expect_refusal("test-share: expected a share");
}

TEST_F(Layouts, BatchesAreThoseOfThePartFromFilesAndPacks) {
  put_classes();
  PackRequest request;
  request.folder = data();
  request.file = folder_ / "all.pack";
  pack_images(request);
  for (const double share : {0.1, 0.4}) {
    shares_.test_share = share;
    for (const Part part : {Part::kTest, Part::kValidation}) {
      const auto files = open(data(), part);
      const auto pack = open(request.file, part);
      EXPECT_EQ(files->info().train_size, static_cast<int64_t>(parts(part).train.size()));
      EXPECT_EQ(files->info().test_size, static_cast<int64_t>(parts(part).held_out.size()));
      const ImageListing images = list_images(data());
      EXPECT_EQ(files->test_batch(0).target[0].item<int64_t>(), images.label(parts(part).held_out[0]));
      EXPECT_TRUE(at::equal(files->train_batch(1, 2).input, pack->train_batch(1, 2).input));
      EXPECT_TRUE(at::equal(files->train_batch(1, 2).target, pack->train_batch(1, 2).target));
      EXPECT_TRUE(at::equal(files->test_batch(0).input, pack->test_batch(0).input));
    }
  }
}

TEST_F(Layouts, TheIndexNoticesAClassAndAPartThatAreNew) {
  const auto listed = [&] {
    said_.clear();
    return indexed_images(data(), "", [this](const std::string& text) { said_ += text; });
  };
  put_classes();
  make_old(data());
  EXPECT_TRUE(listed().whole);
  EXPECT_EQ(listed().train.size(), 120U);
  EXPECT_EQ(said_, "");
  put("ape/1.jpg");
  EXPECT_EQ(listed().classes.size(), 4U);
  EXPECT_NE(said_.find("has changed"), std::string::npos) << said_;
  test::remove_tree(data());
  put("train/a/1.jpg");
  put("val/a/2.jpg");
  EXPECT_EQ(listed().test.path(0), "val/a/2.jpg");
  put("test/a/3.jpg");
  make_old(data());
  EXPECT_EQ(listed().test.path(0), "test/a/3.jpg");
  EXPECT_EQ(listed().validation.path(0), "val/a/2.jpg");
  EXPECT_EQ(said_, "");
}

TEST_F(Layouts, AnIndexMayNotContradictItself) {
  int64_t when = 0;
  const auto refused = [&](const ImageListing& wrong) {
    EXPECT_THROW(parse_index(index_bytes(wrong, 5), "x", &when), FormatError);
  };
  put_classes();
  ImageListing images = list_images(data());
  EXPECT_TRUE(parse_index(index_bytes(images, 5), "x", &when).whole);
  images.test.add("cat/x.jpg", 0);
  refused(images);
  images.whole = false;
  EXPECT_EQ(parse_index(index_bytes(images, 5), "x", &when).test.size(), 1U);
  images.validation.add("cat/y.jpg", 3);
  refused(images);
  images.validation.labels[0] = 2;
  EXPECT_EQ(parse_index(index_bytes(images, 5), "x", &when).validation.path(0), "cat/y.jpg");
  images.test = {};
  refused(images);
}

}  // namespace
}  // namespace hewn::data
