#pragma once

#include <string>
#include <vector>

#include "hewn/flow/op/operator.h"

namespace hewn::flow {

/// How one dimension is resized.
struct Scaling {
  int64_t in = 0;
  int64_t out = 0;
  float scale = 1;
  float length = 0;  // in * scale: `out` before it is rounded
  float roi_start = 0;
  float roi_end = 1;
};

/// One for every dimension of Resize's input, by its inputs roi, scales and sizes and its attributes axes and
/// keep_aspect_ratio_policy.
std::vector<Scaling> scalings_of(const Call& call);

/// The attribute coordinate_transformation_mode.
enum class Coordinates {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kHalfPixelForNearest,
  kCropAndResize,
};
Coordinates coordinates_of(const Call& call);
/// Where an output's index lies in the input.
float coordinate(Coordinates mode, const Scaling& scaling, int64_t output);

}  // namespace hewn::flow
