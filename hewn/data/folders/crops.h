#pragma once

#include <cstdint>

namespace hewn::data {

/// The part of an image that becomes the input, along one axis, in pixels of the image.
struct CropSpan {
  double begin = 0;
  double length = 0;
  int64_t low = 0;  // pixels in [low, high) may be read
  int64_t high = 0;
};

struct Crop {
  CropSpan x;
  CropSpan y;
  bool mirror = false;
};

/// torchvision's RandomResizedCrop and RandomHorizontalFlip: a share in [area, 1] of the image, sides 3:4 to
/// 4:3, anywhere. A pure function of its arguments.
Crop random_crop(int64_t width, int64_t height, double area, uint64_t seed, uint64_t epoch, uint64_t image);

/// torchvision's Resize and CenterCrop: the short side becomes `resize`, then `size` pixels from the middle.
Crop centre_crop(int64_t width, int64_t height, int64_t resize, int64_t size);

}  // namespace hewn::data
