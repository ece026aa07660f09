#include "hewn/flow/op/resize/scales.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hewn/flow/op/numbers.h"

namespace hewn::flow {
namespace {

std::vector<int64_t> resized_axes(const Call& call) {
  std::vector<int64_t> axes(static_cast<size_t>(call.rank(0)));
  std::iota(axes.begin(), axes.end(), 0);
  return from_front(call, call.node->integers("axes", axes), call.rank(0));
}

/// Inputs that are there and not empty: before opset 13 those that are not wanted are empty.
bool given(const Call& call, size_t input) { return call.has(input) && call.spec(input).elements() > 0; }

int64_t size_of_dimension(const Call& call, float length) {
  if (!(length >= 0) || length > static_cast<float>(kMostElements)) throw call.bad(str("a size of ", length));
  return to_integer(length);
}

/// One scale for all, so that nothing is larger than the sizes, or nothing smaller.
float common_scale(const Call& call, const std::vector<int64_t>& axes, const std::vector<int64_t>& sizes,
                   bool smallest) {
  float scale = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t in = call.dims(0)[static_cast<size_t>(axes[i])];
    if (in == 0) throw call.bad("there is nothing to resize");
    const float one = static_cast<float>(sizes[i]) / static_cast<float>(in);
    scale = i == 0 ? one : (smallest ? std::min(scale, one) : std::max(scale, one));
  }
  return scale;
}

void use_sizes(const Call& call, const std::vector<int64_t>& axes, std::vector<Scaling>& out) {
  const std::vector<int64_t> sizes = call.list(3);
  if (sizes.size() != axes.size()) throw call.bad("has not one size for every axis");
  const std::string policy = call.node->text("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") {
    throw call.bad("keep_aspect_ratio_policy is none of stretch, not_larger, not_smaller");
  }
  for (const int64_t size : sizes) {
    if (size < 0 || size > kMostElements) throw call.bad(str("a size of ", size));
  }
  const bool stretch = policy == "stretch";
  const float common = stretch ? 1 : common_scale(call, axes, sizes, policy == "not_larger");
  for (size_t i = 0; i < axes.size(); ++i) {
    Scaling& one = out[static_cast<size_t>(axes[i])];
    const auto in = static_cast<float>(one.in);
    one.out = stretch ? sizes[i] : size_of_dimension(call, std::floor(common * in + 0.5F));
    one.scale = stretch ? static_cast<float>(sizes[i]) / std::max(in, 1.0F) : common;
    one.length = stretch ? static_cast<float>(one.out) : common * in;
  }
}

void use_scales(const Call& call, const std::vector<int64_t>& axes, std::vector<Scaling>& out) {
  const auto scales = call.values<float>(2);
  if (scales.size() != axes.size()) throw call.bad("has not one scale for every axis");
  for (size_t i = 0; i < axes.size(); ++i) {
    Scaling& one = out[static_cast<size_t>(axes[i])];
    if (!(scales[i] > 0)) throw call.bad(str("a scale of ", scales[i]));
    one.scale = scales[i];
    one.length = scales[i] * static_cast<float>(one.in);
    one.out = size_of_dimension(call, std::floor(one.length));
  }
}

}  // namespace

std::vector<Scaling> scalings_of(const Call& call) {
  std::vector<Scaling> out;
  for (const int64_t dim : call.dims(0)) out.push_back({dim, dim, 1, static_cast<float>(dim)});
  const std::vector<int64_t> axes = resized_axes(call);
  if (given(call, 2) == given(call, 3) && !axes.empty()) throw call.bad("expected either scales or sizes");
  if (given(call, 2)) use_scales(call, axes, out);
  if (given(call, 3)) use_sizes(call, axes, out);
  if (coordinates_of(call) == Coordinates::kCropAndResize) {
    if (!given(call, 1)) throw call.bad("has no region of interest");
    const auto roi = call.values<float>(1);
    if (roi.size() != 2 * axes.size()) throw call.bad("the region does not fit the axes");
    for (size_t i = 0; i < axes.size(); ++i) {
      out[static_cast<size_t>(axes[i])].roi_start = roi[i];
      out[static_cast<size_t>(axes[i])].roi_end = roi[axes.size() + i];
    }
  }
  for (const Scaling& one : out) {
    if (one.in == 0 && one.out > 0) throw call.bad("there is nothing to resize");
  }
  return out;
}

Coordinates coordinates_of(const Call& call) {
  const std::string mode = call.node->text("coordinate_transformation_mode", "half_pixel");
  if (mode == "half_pixel") return Coordinates::kHalfPixel;
  if (mode == "half_pixel_symmetric") return Coordinates::kHalfPixelSymmetric;
  if (mode == "pytorch_half_pixel") return Coordinates::kPytorchHalfPixel;
  if (mode == "align_corners") return Coordinates::kAlignCorners;
  if (mode == "asymmetric") return Coordinates::kAsymmetric;
  if (mode == "tf_half_pixel_for_nn") return Coordinates::kHalfPixelForNearest;
  if (mode == "tf_crop_and_resize") return Coordinates::kCropAndResize;
  throw call.bad("coordinate_transformation_mode is not one that ONNX knows");
}

float coordinate(Coordinates mode, const Scaling& scaling, int64_t output) {
  const auto x = static_cast<float>(output);
  const float last = static_cast<float>(scaling.in - 1);
  const float half_pixel = (x + 0.5F) / scaling.scale - 0.5F;
  switch (mode) {
    case Coordinates::kHalfPixel:
      return half_pixel;
    case Coordinates::kHalfPixelSymmetric: {
      const float rounded = static_cast<float>(scaling.out) / scaling.length;
      return static_cast<float>(scaling.in) / 2 * (1 - rounded) + half_pixel;
    }
    case Coordinates::kPytorchHalfPixel:
      return scaling.out > 1 ? half_pixel : 0;
    case Coordinates::kAlignCorners:
      return scaling.length == 1 ? 0 : x * last / (scaling.length - 1);
    case Coordinates::kAsymmetric:
      return x / scaling.scale;
    case Coordinates::kHalfPixelForNearest:
      return (x + 0.5F) / scaling.scale;
    case Coordinates::kCropAndResize: {
      const float width = scaling.roi_end - scaling.roi_start;
      if (scaling.out <= 1) return 0.5F * (scaling.roi_start + scaling.roi_end) * last;
      return scaling.roi_start * last + x * width * last / static_cast<float>(scaling.out - 1);
    }
  }
  return x;
}

}  // namespace hewn::flow
