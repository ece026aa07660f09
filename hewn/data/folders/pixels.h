#pragma once

#include <cstdint>

#include "hewn/core/error.h"

namespace hewn::data {

/// An image that cannot be decoded; the message says why and names no file.
class DamagedImage : public Error {
 public:
  using Error::Error;
};

// A header may promise any size: no photograph has more pixels than this.
constexpr int64_t kMostPixels = int64_t{1} << 28;

struct PixelBox {
  int64_t left = 0;
  int64_t top = 0;
  int64_t right = 0;  // one behind
  int64_t bottom = 0;
};

/// RGB bytes of a part of an image.
struct Pixels {
  const uint8_t* data = nullptr;  // pixel (left, top)
  int64_t stride = 0;             // bytes of a row
  int64_t left = 0;
  int64_t top = 0;
};

}  // namespace hewn::data
