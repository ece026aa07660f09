// From the bytes of a PNG file to RGB pixels, of every kind that there is, and what is no image.
#include <gtest/gtest.h>

#include <vector>

#include "hewn/data/folders/image_reader.h"
#include "hewn/data/folders/pack.h"
#include "hewn/data/folders/png.h"
#include "tests/data/clicks/support.h"
#include "tests/data/folders/support.h"
#include "tests/support/pngs.h"

namespace hewn::data {
namespace {

using test::PngKind;
using test::PngPicture;

PngPicture picture_of(PngKind kind, int bits, bool interlaced, bool transparent) {
  PngPicture out;
  out.kind = kind;
  out.bits = bits;
  out.interlaced = interlaced;
  out.transparent = transparent;
  out.value = [bits](int x, int y, int c) { return (x * 4099 + y * 7919 + c * 26003) % (1 << bits); };
  return out;
}

/// What Pillow's convert("RGB") gives, but for 16-bit grey, all of which it makes white from 256 on.
int expected(const PngPicture& picture, int x, int y, int c) {
  const bool grey = picture.kind == PngKind::kGrey || picture.kind == PngKind::kGreyAlpha;
  const int value = picture.value(x, y, grey || picture.kind == PngKind::kPalette ? 0 : c);
  if (picture.kind == PngKind::kPalette) return test::palette_value(value, c);
  return picture.bits == 16 ? value / 256 : value * 255 / ((1 << picture.bits) - 1);
}

std::vector<int> wanted(const PngPicture& picture, const PixelBox& box) {
  std::vector<int> out;
  for (int64_t y = box.top; y < box.bottom; ++y) {
    for (int64_t i = 3 * box.left; i < 3 * box.right; ++i) {
      out.push_back(expected(picture, static_cast<int>(i / 3), static_cast<int>(y), static_cast<int>(i % 3)));
    }
  }
  return out;
}

std::vector<int> decoded(PngDecoder& decoder, const std::string& bytes, const PixelBox& box) {
  decoder.open(bytes);
  const Pixels pixels = decoder.decode(box);
  std::vector<int> out;
  for (int64_t y = box.top; y < box.bottom; ++y) {
    const uint8_t* row = pixels.data + (y - pixels.top) * pixels.stride - 3 * pixels.left;
    out.insert(out.end(), row + 3 * box.left, row + 3 * box.right);
  }
  return out;
}

std::vector<PngPicture> all_kinds() {
  std::vector<PngPicture> out;
  for (const bool interlaced : {false, true}) {
    for (const bool transparent : {false, true}) {
      for (const int bits : {1, 2, 4, 8, 16}) {
        out.push_back(picture_of(PngKind::kGrey, bits, interlaced, transparent));
        if (bits < 16) out.push_back(picture_of(PngKind::kPalette, bits, interlaced, transparent));
        if (bits >= 8) out.push_back(picture_of(PngKind::kRgb, bits, interlaced, transparent));
        if (bits < 8 || transparent) continue;
        out.push_back(picture_of(PngKind::kGreyAlpha, bits, interlaced, false));
        out.push_back(picture_of(PngKind::kRgba, bits, interlaced, false));
      }
    }
  }
  return out;
}

TEST(Png, EveryKindBecomesRgbBytes) {
  PngDecoder decoder;  // one for all: nothing of an image is left in the next
  for (const PngPicture& picture : all_kinds()) {
    const std::string bytes = test::png_bytes(picture);
    decoder.open(bytes);
    ASSERT_EQ(decoder.width(), picture.width);
    ASSERT_EQ(decoder.height(), picture.height);
    for (const PixelBox& box : {PixelBox{0, 0, 13, 9}, PixelBox{3, 2, 8, 7}, PixelBox{12, 8, 13, 9}}) {
      ASSERT_EQ(decoded(decoder, bytes, box), wanted(picture, box))
          << "kind " << static_cast<int>(picture.kind) << " bits " << picture.bits << " interlaced "
          << picture.interlaced << " transparent " << picture.transparent << " from " << box.left;
    }
  }
}

TEST(Png, ATruncatedFileIsRefusedAtAnyLength) {
  PngDecoder decoder;
  for (const PngPicture& picture : all_kinds()) {
    const std::string good = test::png_bytes(picture);
    const size_t end_chunk = 12;
    // The last bytes of the pixels' chunk are a checksum of them and one of the chunk: none is needed for
    // the last row, and where they are missing there is nothing to miss.
    for (size_t length = 0; length + end_chunk + 8 < good.size(); ++length) {
      EXPECT_THROW(decoded(decoder, good.substr(0, length), {0, 0, 13, 9}), DamagedImage)
          << length << " of " << good.size();
    }
    EXPECT_EQ(decoded(decoder, good.substr(0, good.size() - end_chunk), {0, 0, 13, 9}),
              wanted(picture, {0, 0, 13, 9}));
  }
}

TEST(Png, DamagedBytesAreRefusedOrDoNotMatter) {
  PngDecoder decoder;
  const PixelBox all{0, 0, 13, 9};
  for (const PngPicture& picture : all_kinds()) {
    const std::string good = test::png_bytes(picture);
    for (size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x24);
      try {
        decoder.open(bad);
        if (decoder.width() == 13 && decoder.height() == 9) decoded(decoder, bad, all);
      } catch (const DamagedImage& error) {
        EXPECT_STRNE(error.what(), "");
      }
    }
    EXPECT_EQ(decoded(decoder, good, all), wanted(picture, all));
  }
}

/// A file with nothing but a header that promises this size, its checksum as it should be.
std::string promising(uint32_t width, uint32_t height, const std::string& colours = "\x08\x02") {
  std::string chunk = "IHDR";
  for (const uint32_t value : {width, height}) {
    for (int shift = 24; shift >= 0; shift -= 8) chunk += static_cast<char>(value >> shift & 255);
  }
  chunk += colours + std::string(3, '\0');
  const uint32_t crc = crc32(chunk);
  for (int shift = 24; shift >= 0; shift -= 8) chunk += static_cast<char>(crc >> shift & 255);
  const std::string empty_pixels("\0\0\0\0IDAT\x35\xaf\x06\x1e", 12);
  return std::string("\x89PNG\r\n\x1a\n\0\0\0\x0d", 12) + chunk + empty_pixels;
}

TEST(Png, PromisesOfManyPixelsAreNotBelieved) {
  PngDecoder decoder;
  const auto refusal = [&](uint32_t width, uint32_t height) {
    return message_of([&] { decoder.open(promising(width, height)); });
  };
  EXPECT_EQ(refusal(10, 10), "no error");
  EXPECT_NE(refusal(100000, 100000).find("100000x100000 pixels, too many"), std::string::npos);
  EXPECT_NE(refusal(16000, 16000).find("fewer bytes than 16000x16000 pixels need"), std::string::npos);
  const std::string one_bit("\x01\0", 2);
  const std::string packed = promising(16384, 16384, one_bit) + std::string(40000, '\0');
  EXPECT_NE(message_of([&] { decoder.open(packed); }).find(" bytes, too many"), std::string::npos);
  const std::string large = promising(8192, 8192, one_bit) + std::string(10000, '\0');
  EXPECT_EQ(message_of([&] { decoder.open(large); }), "no error");
  EXPECT_NE(refusal(0xffffffff, 1), "no error");
  EXPECT_NE(refusal(0, 0), "no error");
}

TEST(Png, NothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  PngDecoder decoder;
  std::string bad = test::png_bytes(picture_of(PngKind::kRgb, 8, false, false));
  bad[bad.size() - 20] ^= 1;
  EXPECT_THROW(decoded(decoder, bad, {0, 0, 13, 9}), DamagedImage);
  EXPECT_THROW(decoder.open(promising(0, 3)), DamagedImage);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(ImageReader, TheBytesSayWhatAFileIs) {
  const test::TempFolder folder;
  put_image(folder / "a.jpg", test::plain_png(20, 10, 200, 100, 50));
  put_image(folder / "b.png", test::plain_jpeg(20, 10, 200, 100, 50));
  put_image(folder / "c.png", "GIF89a and more");
  ImageReader reader;
  std::vector<uint8_t> out(size_t{3} * 4 * 4);
  const auto whole = [](int64_t width, int64_t height) {
    return Crop{{0, static_cast<double>(width), 0, width}, {0, static_cast<double>(height), 0, height}};
  };
  for (const char* name : {"a.jpg", "b.png", "a.jpg"}) {
    EXPECT_EQ(reader.measure(folder / name), (std::pair<int64_t, int64_t>(20, 10)));
    reader.read(folder / name, whole, 4, out.data());
    for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], i % 3 == 0 ? 200 : i % 3 == 1 ? 100 : 50, 2);
  }
  EXPECT_EQ(message_of([&] { reader.measure(folder / "c.png"); }), "is neither a JPEG nor a PNG file");
}

TEST(PngPack, HoldsPngFilesAndMakesThemSmaller) {
  const test::TempFolder folder;
  const std::string small = test::plain_png(20, 20, 9, 8, 7);
  put_image(folder / "data/train/a/1.png", test::plain_png(90, 60, 200, 100, 50));
  put_image(folder / "data/train/a/2.png", small);
  put_image(folder / "data/val/a/3.jpeg", small);
  PackRequest request;
  request.folder = folder / "data";
  request.file = folder / "all.pack";
  request.short_side = 30;
  EXPECT_EQ(pack_images(request).resized, 1);
  const ImagePack pack(request.file);
  EXPECT_EQ(pack.image(1), small);
  EXPECT_EQ(pack.image(2), small);
  ImageReader reader;
  EXPECT_EQ(reader.measure(pack.image(0)), (std::pair<int64_t, int64_t>(45, 30)));
}

}  // namespace
}  // namespace hewn::data
