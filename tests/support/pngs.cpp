#include "tests/support/pngs.h"

#include <png.h>

#include <array>
#include <vector>

namespace hewn::test {
namespace {

int colours_of(PngKind kind) {
  constexpr std::array<int, 5> kColours = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                           PNG_COLOR_TYPE_PALETTE, PNG_COLOR_TYPE_RGB,
                                           PNG_COLOR_TYPE_RGB_ALPHA};
  return kColours[static_cast<size_t>(kind)];
}

void set_palette(png_structp png, png_infop info, const PngPicture& picture) {
  std::vector<png_color> colours(size_t{1} << picture.bits);
  for (size_t i = 0; i < colours.size(); ++i) {
    const auto value = [&](int c) { return static_cast<png_byte>(palette_value(static_cast<int>(i), c)); };
    colours[i] = {value(0), value(1), value(2)};
  }
  png_set_PLTE(png, info, colours.data(), static_cast<int>(colours.size()));
}

void set_transparency(png_structp png, png_infop info, const PngPicture& picture) {
  std::array<png_byte, 2> alphas = {0, 100};
  png_color_16 colour{};
  const auto value = [&](int c) { return static_cast<png_uint_16>(picture.value(0, 0, c)); };
  if (picture.kind != PngKind::kPalette) colour = {0, value(0), value(1), value(2), value(0)};
  png_set_tRNS(png, info, alphas.data(), static_cast<int>(alphas.size()), &colour);
}

}  // namespace

int palette_value(int number, int c) { return (number * (37 + 54 * c) + 11 * c + 5) % 256; }

std::string png_bytes(const PngPicture& picture) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp writer, png_bytep bytes, size_t count) {
        static_cast<std::string*>(png_get_io_ptr(writer))
            ->append(reinterpret_cast<const char*>(bytes), count);
      },
      [](png_structp) {});
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width), static_cast<png_uint_32>(picture.height),
               picture.bits, colours_of(picture.kind),
               picture.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (picture.kind == PngKind::kPalette) set_palette(png, info, picture);
  if (picture.transparent) set_transparency(png, info, picture);
  png_write_info(png, info);
  if (picture.bits < 8) png_set_packing(png);
  const int channels = png_get_channels(png, info);
  std::vector<std::vector<png_byte>> rows(static_cast<size_t>(picture.height));
  std::vector<png_bytep> pointers;
  for (int y = 0; y < picture.height; ++y) {
    std::vector<png_byte>& row = rows[static_cast<size_t>(y)];
    for (int i = 0; i < picture.width * channels; ++i) {
      const int value = picture.value(i / channels, y, i % channels);
      if (picture.bits == 16) row.push_back(static_cast<png_byte>(value >> 8));
      row.push_back(static_cast<png_byte>(value & 255));
    }
    pointers.push_back(row.data());
  }
  png_write_image(png, pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return out;
}

std::string plain_png(int width, int height, int red, int green, int blue) {
  PngPicture picture;
  picture.width = width;
  picture.height = height;
  picture.value = [=](int, int, int c) { return c == 0 ? red : c == 1 ? green : blue; };
  return png_bytes(picture);
}

}  // namespace hewn::test
