#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hewn/data/folders/crops.h"
#include "hewn/data/folders/jpeg.h"
#include "hewn/data/folders/png.h"
#include "hewn/data/folders/resample.h"

namespace hewn::data {

/// Which part of an image of that size is wanted.
using ChooseCrop = std::function<Crop(int64_t width, int64_t height)>;

/// From the bytes of an image file to the pixels of an input, JPEG or PNG as the bytes themselves say. One
/// per thread; it keeps its memory. Throws Error where this build cannot decode such files.
class ImageReader {
 public:
  /// size x size RGB pixels. Throws DamagedImage, also where the file cannot be read.
  void read(const std::filesystem::path& path, const ChooseCrop& choose, int64_t size, uint8_t* out);
  void decode(std::string_view bytes, const ChooseCrop& choose, int64_t size, uint8_t* out);

  /// The bytes of a JPEG file with the same image, its shorter side so long; "" where it is no longer than
  /// that already. Throws DamagedImage.
  std::string resized(std::string_view bytes, int64_t short_side);

  /// Width and height.
  std::pair<int64_t, int64_t> measure(const std::filesystem::path& path);
  std::pair<int64_t, int64_t> measure(std::string_view bytes);

 private:
  std::string_view load(const std::filesystem::path& path);
  /// Width and height; the image is then the opened one.
  std::pair<int64_t, int64_t> open(std::string_view bytes);
  /// A part of the opened image as so many pixels.
  void render(const Crop& crop, int64_t width, int64_t height, uint8_t* out);

  std::unique_ptr<JpegDecoder> jpeg_;  // made for the first file of their kind
  std::unique_ptr<PngDecoder> png_;
  bool opened_png_ = false;
  std::string bytes_;
  ResampleAxis rows_;
  ResampleAxis columns_;
  std::vector<float> scratch_;
};

}  // namespace hewn::data
