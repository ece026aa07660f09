#pragma once

#include <cstdint>
#include <vector>

#include "hewn/core/json.h"

namespace hewn::data {

/// How an image becomes an input, as in evaluation: the short side becomes `resize` pixels, then size x size
/// of the middle is cut out, then normalised. With one channel the pixels are grey: Pillow's convert("L").
struct ImageRule {
  int64_t channels = 3;  // 1 or 3
  int64_t size = 0;
  int64_t resize = 0;  // 0: images have that size already
  std::vector<double> mean;
  std::vector<double> deviation;

  Json to_json() const;
};

/// What to_json wrote, from a file that may be hostile, for a model that takes channels x height x width.
/// Throws Error.
ImageRule image_rule(const Json& json, int64_t channels, int64_t height, int64_t width);

}  // namespace hewn::data
