#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "hewn/data/folders/image_reader.h"
#include "hewn/data/inputs/image_rule.h"
#include "hewn/data/inputs/normalisation.h"

namespace hewn::data {

/// Reads images as the rule says. One per thread; it keeps its memory.
class ImageInputs {
 public:
  explicit ImageInputs(const ImageRule& rule);

  int64_t floats() const { return rule_.channels * rule_.size * rule_.size; }
  /// channels x size x size. Throws DamagedImage, also where the file cannot be read.
  void read(const std::filesystem::path& path, float* out);
  /// The same for a file in memory.
  void decode(std::string_view bytes, float* out);

 private:
  Crop crop(int64_t width, int64_t height) const;
  void normalise(float* out) const;

  ImageRule rule_;
  Normalisation normalisation_;
  ImageReader reader_;
  std::vector<uint8_t> pixels_;
};

}  // namespace hewn::data
