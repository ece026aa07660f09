#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace hewn::test {

/// A picture whose value at (x, y) and channel c is a function.
struct Picture {
  int width = 16;
  int height = 16;
  int channels = 3;  // 1 grey, 3 RGB, 4 CMYK as Adobe stores it: 255 is no ink
  std::function<int(int x, int y, int c)> value;
  bool ycck = false;  // stores CMYK as YCCK
  bool progressive = false;
  int chroma_x = 2;  // how much coarser colours are than brightness
  int chroma_y = 2;
  int quality = 95;
};

/// The bytes of a JPEG file.
std::string jpeg_bytes(const Picture& picture);

/// RGB pixels of a grey or RGB file, decoded as plainly as libjpeg allows.
std::vector<uint8_t> plainly_decoded(const std::string& bytes);

/// One colour everywhere; small numbers make small files.
std::string plain_jpeg(int width, int height, int red, int green, int blue);
/// Waves in all channels that differ from picture to picture.
Picture wavy(int width, int height, int number);

}  // namespace hewn::test
