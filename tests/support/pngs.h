#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace hewn::test {

enum class PngKind : uint8_t { kGrey, kGreyAlpha, kPalette, kRgb, kRgba };

/// A picture whose value at (x, y) and channel c is a function, or the number of a colour in the palette.
struct PngPicture {
  int width = 13;
  int height = 9;
  PngKind kind = PngKind::kRgb;
  int bits = 8;  // of a channel; PNG knows 1, 2, 4 for grey and palettes, 8, 16 for all but palettes
  bool interlaced = false;
  bool transparent = false;  // with a colour, or colours of the palette, that is not to be seen
  std::function<int(int x, int y, int c)> value;
};

/// Colour `number` of every palette.
int palette_value(int number, int c);

/// The bytes of a PNG file.
std::string png_bytes(const PngPicture& picture);

/// One colour everywhere.
std::string plain_png(int width, int height, int red, int green, int blue);

}  // namespace hewn::test
