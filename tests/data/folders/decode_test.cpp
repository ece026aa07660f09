// From the bytes of a JPEG file to pixels: parts of images, their colours, and what is no image.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "hewn/data/folders/crops.h"
#include "hewn/data/folders/image_reader.h"
#include "hewn/data/folders/jpeg.h"
#include "tests/data/clicks/support.h"
#include "tests/support/jpegs.h"

namespace hewn::data {
namespace {

using test::Picture;

std::vector<uint8_t> part_of(JpegDecoder& decoder, const std::string& bytes, int64_t shrink,
                             const PixelBox& box) {
  decoder.open(bytes);
  const Pixels pixels = decoder.decode(shrink, box);
  EXPECT_LE(pixels.left, box.left);
  std::vector<uint8_t> out;
  for (int64_t y = box.top; y < box.bottom; ++y) {
    const uint8_t* row = pixels.data + (y - pixels.top) * pixels.stride - 3 * pixels.left;
    out.insert(out.end(), row + 3 * box.left, row + 3 * box.right);
  }
  return out;
}

std::vector<uint8_t> cut(const std::vector<uint8_t>& whole, int64_t width, const PixelBox& box) {
  std::vector<uint8_t> out;
  for (int64_t y = box.top; y < box.bottom; ++y) {
    const auto row = whole.begin() + 3 * y * width;
    out.insert(out.end(), row + 3 * box.left, row + 3 * box.right);
  }
  return out;
}

TEST(Jpeg, APartIsWhatItIsInTheWhole) {
  JpegDecoder decoder;
  JpegDecoder other;
  for (const auto& [width, height] : {std::pair(203, 117), {64, 64}, {9, 70}, {1, 1}}) {
    for (int kind = 0; kind < 10; ++kind) {
      Picture picture = test::wavy(width, height, kind);
      picture.chroma_x = 1 + kind % 2;
      picture.chroma_y = 1 + kind / 2 % 2;
      picture.progressive = kind / 4 == 1;
      picture.channels = kind < 8 ? 3 : kind == 8 ? 1 : 4;
      const std::string bytes = test::jpeg_bytes(picture);
      for (const int64_t shrink : {1, 2, 4, 8}) {
        const int64_t w = (width + shrink - 1) / shrink;
        const int64_t h = (height + shrink - 1) / shrink;
        const std::vector<uint8_t> whole = part_of(other, bytes, shrink, {0, 0, w, h});
        if (shrink == 1 && picture.channels != 4) {
          ASSERT_EQ(whole, test::plainly_decoded(bytes)) << kind;
        }
        for (const PixelBox& box :
             {PixelBox{0, 0, (w + 1) / 2, (h + 1) / 2}, PixelBox{w / 2, h / 2, w, h},
              PixelBox{w / 3, h / 4, w - w / 4, h - h / 3}, PixelBox{w - 1, h - 1, w, h}}) {
          ASSERT_EQ(part_of(decoder, bytes, shrink, box), cut(whole, w, box))
              << width << "x" << height << " kind " << kind << " at 1/" << shrink << " from " << box.left
              << "," << box.top;
        }
      }
    }
  }
}

/// The mean colour of a decoded image.
std::vector<int> colour(const Picture& picture) {
  JpegDecoder decoder;
  const auto pixels = part_of(decoder, test::jpeg_bytes(picture), 1, {0, 0, picture.width, picture.height});
  std::vector<int> sum(3, 0);
  for (size_t i = 0; i < pixels.size(); ++i) sum[i % 3] += pixels[i];
  for (int& value : sum) value /= picture.width * picture.height;
  return sum;
}

void expect_near(const std::vector<int>& got, const std::vector<int>& expected) {
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(got[c], expected[c], 2) << c;
}

TEST(Jpeg, GreyAndInksBecomeColours) {
  Picture grey;
  grey.channels = 1;
  grey.value = [](int, int, int) { return 77; };
  expect_near(colour(grey), {77, 77, 77});
  Picture inks;
  inks.channels = 4;
  inks.value = [](int, int, int c) { return c == 0 ? 200 : c == 1 ? 100 : c == 2 ? 50 : 204; };
  expect_near(colour(inks), {160, 80, 40});  // times 204 / 255
  inks.ycck = true;
  expect_near(colour(inks), {160, 80, 40});
}

TEST(Jpeg, WhatIsNoWholeImageIsRefused) {
  JpegDecoder decoder;
  const std::string good = test::jpeg_bytes(test::wavy(64, 64, 1));
  const PixelBox all{0, 0, 64, 64};
  const auto refused = [&](const std::string& bytes) {
    EXPECT_THROW(part_of(decoder, bytes, 1, all), DamagedImage) << bytes.size();
  };
  refused("");
  refused("GIF89a, which is no JPEG file");
  refused("\x89PNG\r\n\x1a\n and more");
  for (const size_t part : {size_t{3}, size_t{20}, size_t{300}, good.size() / 2})
    refused(good.substr(0, part));
  // The decoder works on afterwards, also on an image whose missing rows nobody wants.
  JpegDecoder fresh;
  const PixelBox top{0, 0, 64, 16};
  EXPECT_EQ(part_of(decoder, good.substr(0, good.size() * 9 / 10), 1, top), part_of(fresh, good, 1, top));
  EXPECT_EQ(part_of(decoder, good, 1, all), part_of(fresh, good, 1, all));
}

TEST(ImageReader, LargeImagesAreShrunkToTheSamePicture) {
  Picture picture;
  picture.width = 900;
  picture.height = 700;
  picture.value = [](int x, int y, int c) { return c == 0 ? x / 4 : c == 1 ? y / 3 : 100; };
  ImageReader reader;
  std::vector<uint8_t> out(static_cast<size_t>(3 * 32 * 32));
  const auto half = [](int64_t, int64_t) {
    return Crop{{450, 450, 450, 900}, {0, 350, 0, 350}, /*mirror=*/true};
  };
  reader.decode(test::jpeg_bytes(picture), half, 32, out.data());
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32; ++x) {
      const size_t at = static_cast<size_t>(3 * (32 * y + x));
      EXPECT_NEAR(out[at], (450 + (31.5 - x) * 450 / 32) / 4, 3);
      EXPECT_NEAR(out[at + 1], (y + 0.5) * 350 / 32 / 3, 3);
    }
  }
}

TEST(Crops, TheCentreIsTorchvisions) {
  // Resize(256) and CenterCrop(224) of 500x375: 341x256, then from (58, 16): round(58.5) is even.
  const Crop crop = centre_crop(500, 375, 256, 224);
  EXPECT_NEAR(crop.x.begin, 58 * 500.0 / 341, 1e-9);
  EXPECT_NEAR(crop.x.length, 224 * 500.0 / 341, 1e-9);
  EXPECT_NEAR(crop.y.begin, 16 * 375.0 / 256, 1e-9);
  EXPECT_FALSE(crop.mirror);
  // An image of the right size is taken as it is.
  const Crop same = centre_crop(64, 64, 64, 64);
  EXPECT_EQ(same.x.begin, 0);
  EXPECT_EQ(same.x.length, 64);
}

TEST(Crops, RandomOnesStayInsideAndVary) {
  std::set<bool> mirrors;
  double least = 1;
  double most = 0;
  for (uint64_t image = 0; image < 2000; ++image) {
    const Crop crop = random_crop(500, 375, 0.08, 3, 1, image);
    ASSERT_GE(crop.x.low, 0);
    ASSERT_LE(crop.x.high, 500);
    ASSERT_GE(crop.y.low, 0);
    ASSERT_LE(crop.y.high, 375);
    const double ratio = crop.x.length / crop.y.length;
    ASSERT_GT(ratio, 0.73);
    ASSERT_LT(ratio, 1.37);
    const double area = crop.x.length * crop.y.length / (500 * 375);
    least = std::min(least, area);
    most = std::max(most, area);
    mirrors.insert(crop.mirror);
  }
  EXPECT_NEAR(least, 0.08, 0.01);
  EXPECT_GT(most, 0.95);
  EXPECT_EQ(mirrors.size(), 2U);
  EXPECT_NE(random_crop(500, 375, 0.08, 3, 1, 7).x.begin, random_crop(500, 375, 0.08, 3, 2, 7).x.begin);
  // Nothing but the middle fits into a strip.
  const Crop strip = random_crop(1000, 10, 1, 0, 0, 0);
  EXPECT_EQ(strip.x.length, 13);
  EXPECT_EQ(strip.x.low, 493);
  EXPECT_EQ(strip.y.length, 10);
}

}  // namespace
}  // namespace hewn::data
