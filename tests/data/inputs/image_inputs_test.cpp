// New images become the numbers that evaluation makes of them, with nothing but what a model file carries.
#include "hewn/data/inputs/image_inputs.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "hewn/core/preprocessing.h"
#include "hewn/data/inputs/image_files.h"
#include "hewn/data/source.h"
#include "tests/data/clicks/support.h"
#include "tests/data/folders/support.h"
#include "tests/support/pngs.h"
#include "tests/support/tiny_mnist.h"

namespace hewn::data {
namespace {

using test::TempFolder;
using test::write_text;

std::string wavy_png(int width, int height, int number) {
  const auto value = test::wavy(width, height, number).value;
  return test::png_bytes({.width = width, .height = height, .value = value});
}

ImageInputs inputs_of(const Source& source) {
  const std::vector<int64_t>& shape = source.info().input;
  const Json rule = Json::parse(source.preprocessing().rule.dump());
  return ImageInputs(image_rule(rule, shape[0], shape[1], shape[2]));
}

TEST(NewImages, AreReadAsInEvaluation) {
  const TempFolder folder;
  make_folder(folder.path(), 3);
  // Wide, high, small and large ones, of both kinds.
  put_image(folder / "val/n01/w.png", wavy_png(50, 20, 1));
  put_image(folder / "val/n02/w.png", wavy_png(9, 11, 2));
  put_image(folder / "val/n03/w.jpg", test::jpeg_bytes(test::wavy(160, 90, 3)));
  for (const int64_t resize : {16, 20}) {
    DataOptions options;
    options.folders.image_size = 16;
    options.folders.eval_resize = resize;
    const auto source = open_source("imagefolder:" + folder.path().string(), options);
    EXPECT_EQ(source->preprocessing().classes, (std::vector<std::string>{"n01", "n02", "n03"}));
    const at::Tensor expected = source->test_batch(0).input;
    ImageInputs inputs = inputs_of(*source);
    const std::vector<std::filesystem::path> files = find_images(folder / "val").images;
    ASSERT_EQ(files.size(), 9U);
    ASSERT_EQ(expected.size(0), 9);
    const at::Tensor got = at::empty({3, 16, 16});
    for (size_t i = 0; i < files.size(); ++i) {
      inputs.read(files[i], got.data_ptr<float>());
      EXPECT_TRUE(at::equal(got, expected[static_cast<int64_t>(i)])) << files[i];
    }
  }
}

TEST(NewImages, OfABuiltInDataSetAreItsPixels) {
  const TempFolder folder;
  test::write_tiny_mnist(folder.path(), 20, 10);
  const auto source = open_source("mnist:" + folder.path().string(), {});
  EXPECT_EQ(source->preprocessing().classes[3], "3");
  ImageInputs inputs = inputs_of(*source);
  const at::Tensor expected = source->test_batch(0).input[4][0];
  const at::Tensor bytes = (expected * 0.3081 + 0.1307).mul(255).round().to(at::kByte);
  const auto value = [&](int x, int y, int) { return bytes[y][x].item<int>(); };
  const at::Tensor got = at::empty({28, 28});
  for (const test::PngKind kind : {test::PngKind::kGrey, test::PngKind::kRgb}) {
    const std::string png = test::png_bytes({.width = 28, .height = 28, .kind = kind, .value = value});
    inputs.decode(png, got.data_ptr<float>());
    EXPECT_TRUE(at::equal(got, expected));
  }
  // Another size is scaled, colours become grey.
  inputs.decode(test::plain_png(60, 70, 200, 100, 50), got.data_ptr<float>());
  EXPECT_NEAR(got[5][5].item<float>(), (124.0F / 255 - 0.1307F) / 0.3081F, 1e-5);
  EXPECT_EQ(message_of([&] { inputs.decode("GIF89a", got.data_ptr<float>()); }),
            "is neither a JPEG nor a PNG file");
}

TEST(NewImages, RulesAreHostileUntilChecked) {
  const Json good = ImageRule{3, 8, 10, {0.5, 0.5, 0.5}, {1, 1, 2}}.to_json();
  EXPECT_EQ(image_rule(good, 3, 8, 8).resize, 10);
  EXPECT_THROW(image_rule(good, 3, 8, 9), Error);
  EXPECT_THROW(image_rule(good, 1, 8, 8), Error);
  const auto refused = [&](const char* key, const Json& value) {
    Json bad = good;
    bad[key] = value;
    EXPECT_THROW(image_rule(bad, 3, 8, 8), Error) << bad;
  };
  for (const Json& value :
       {Json(8), Json({8}), Json({8, 9}), Json({8.0, 8.0}), Json({-8, -8}), Json(nullptr)})
    refused("size", value);
  for (const Json& value : {Json(7), Json(1e9), Json(int64_t{1} << 40), Json("10")}) refused("resize", value);
  for (const Json& value : {Json({1, 1}), Json({1, 1, "1"}), Json(1), Json({1, 1, nullptr})}) {
    refused("mean", value);
    refused("std", value);
  }
  refused("std", {1, 1, 0});
  refused("std", {1, 1, -1});
  Json exact = good;
  exact.erase("resize");
  ImageInputs inputs(image_rule(exact, 3, 8, 8));
  std::vector<float> out(3 * 64);
  inputs.decode(test::plain_png(8, 8, 1, 2, 3), out.data());
  EXPECT_NE(message_of([&] {
              inputs.decode(test::plain_png(8, 9, 1, 2, 3), out.data());
            }).find("has 8x9 pixels, the model takes images of 8x8"),
            std::string::npos);
}

TEST(NewImages, AreFoundAtAnyDepth) {
  const TempFolder folder;
  put_image(folder / "b/c/2.jpg", small_jpeg(1));
  put_image(folder / "b/1.txt", test::plain_png(2, 2, 1, 2, 3));  // names say nothing
  put_image(folder / "a.png", "no image");
  put_image(folder / ".hidden/3.jpg", small_jpeg(2));
  put_image(folder / ".4.jpg", small_jpeg(2));
  put_image(folder / "z.png", test::plain_png(2, 2, 1, 2, 3));
  const ImageFiles found = find_images(folder.path());
  EXPECT_EQ(found.images,
            (std::vector<std::filesystem::path>{folder / "b/1.txt", folder / "b/c/2.jpg", folder / "z.png"}));
  EXPECT_EQ(found.others, std::vector<std::filesystem::path>{folder / "a.png"});
  EXPECT_THROW(find_images(folder / "nowhere"), Error);
}

TEST(NewImages, AreFoundThroughLinks) {
  const TempFolder folder;
  put_image(folder / "elsewhere/1.jpg", small_jpeg(1));
  put_image(folder / "new/a/2.jpg", small_jpeg(2));
  std::filesystem::create_directory_symlink("../elsewhere", folder / "new/b");
  std::filesystem::create_directory_symlink("../new/a", folder / "elsewhere/c");
  std::filesystem::create_directory_symlink("..", folder / "new/a/up");
  const ImageFiles found = find_images(folder / "new");
  EXPECT_EQ(found.images, (std::vector<std::filesystem::path>{folder / "new/a/2.jpg", folder / "new/b/1.jpg",
                                                              folder / "new/b/c/2.jpg"}));
  EXPECT_EQ(found.others, (std::vector<std::filesystem::path>{folder / "new/a/up", folder / "new/b/c/up"}));
}

}  // namespace
}  // namespace hewn::data
