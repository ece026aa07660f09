#include "hewn/train/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hewn/core/error.h"

namespace hewn::train {

RateShape parse_rate_shape(const std::string& name) {
  if (name == "cosine") return RateShape::kCosine;
  if (name == "exponential") return RateShape::kExponential;
  if (name == "constant") return RateShape::kConstant;
  throw Error(str("lr-schedule: expected cosine, exponential or constant, got \"", name, "\""));
}

double LearningRate::at(int64_t step) const {
  const auto rise = static_cast<double>(std::llround(warmup * static_cast<double>(steps)));
  const auto now = static_cast<double>(step);
  if (now < rise) return peak * (now + 1) / (rise + 1);
  const double left = std::max(1.0, static_cast<double>(steps) - rise);
  const double t = std::clamp((now - rise) / left, 0.0, 1.0);
  switch (shape) {
    case RateShape::kCosine:
      return end + (peak - end) * (1 + std::cos(std::numbers::pi * t)) / 2;
    case RateShape::kExponential:
      return peak * std::pow(end / peak, t);
    case RateShape::kConstant:
      return peak;
  }
  return peak;
}

}  // namespace hewn::train
