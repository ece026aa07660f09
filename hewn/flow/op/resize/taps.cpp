#include "hewn/flow/op/resize/taps.h"

#include <algorithm>
#include <cmath>

#include "hewn/flow/op/numbers.h"

namespace hewn::flow {
namespace {

/// Which of `names` the attribute is.
template <class Choice, size_t kNames>
Choice choice(const Call& call, const char* attribute, const std::array<const char*, kNames>& names) {
  const std::string text = call.node->text(attribute, names[0]);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) throw call.bad(str(attribute, " is not one that ONNX knows"));
  return static_cast<Choice>(found - names.begin());
}

}  // namespace

Mixing::Mixing(const Call& call)
    : mode_(choice<Mode, 3>(call, "mode", {"nearest", "linear", "cubic"})),
      rounding_(choice<Rounding, 4>(call, "nearest_mode",
                                    {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})),
      coordinates_(coordinates_of(call)),
      cubic_coefficient_(call.node->number("cubic_coeff_a", -0.75F)),
      exclude_outside_(call.node->integer("exclude_outside", 0) != 0) {}

float Mixing::rounded(float x) const {
  switch (rounding_) {
    case Rounding::kPreferFloor:
      return std::ceil(x - 0.5F);
    case Rounding::kPreferCeil:
      return std::floor(x + 0.5F);
    case Rounding::kFloor:
      return std::floor(x);
    case Rounding::kCeil:
      return std::ceil(x);
  }
  return x;
}

Taps Mixing::cubic(float x, int64_t size) const {
  const float a = cubic_coefficient_;
  const float below = std::floor(x);
  const float t = x - below;
  Taps out;
  out.number = 4;
  out.weight = {((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a,
                ((a + 2) * t - (a + 3)) * t * t + 1, ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1,
                ((a * (2 - t) - 5 * a) * (2 - t) + 8 * a) * (2 - t) - 4 * a};
  float sum = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int64_t at = to_integer(below) - 1 + static_cast<int64_t>(i);
    out.index[i] = std::clamp<int64_t>(at, 0, size - 1);
    if (exclude_outside_ && at != out.index[i]) out.weight[i] = 0;
    sum += out.weight[i];
  }
  if (exclude_outside_) {
    for (float& weight : out.weight) weight /= sum;
  }
  return out;
}

Taps Mixing::taps(const Scaling& scaling, int64_t output) const {
  const auto last = static_cast<float>(scaling.in - 1);
  float x = coordinate(coordinates_, scaling, output);
  Taps out;
  if (coordinates_ == Coordinates::kCropAndResize && !(x >= 0 && x <= last)) return out;
  // Beyond the ends it does not matter how far; what is not a number is the first.
  x = x > -2 ? std::min(x, last + 2) : -2.0F;
  if (mode_ == Mode::kCubic) return cubic(x, scaling.in);
  x = std::clamp(mode_ == Mode::kNearest ? rounded(x) : x, 0.0F, last);
  const int64_t below = std::min(to_integer(x), scaling.in - 1);
  out.number = mode_ == Mode::kNearest ? 1 : 2;
  out.index = {below, std::min(below + 1, scaling.in - 1)};
  const float part = mode_ == Mode::kNearest ? 0 : x - std::floor(x);
  out.weight = {1 - part, part};
  return out;
}

}  // namespace hewn::flow
