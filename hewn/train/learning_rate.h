#pragma once

#include <cstdint>
#include <string>

namespace hewn::train {

enum class RateShape : uint8_t { kCosine, kExponential, kConstant };
RateShape parse_rate_shape(const std::string& name);

/// The learning rate as a pure function of the step, over the whole training: phases never reset it.
struct LearningRate {
  RateShape shape = RateShape::kCosine;
  double peak = 0.1;
  double end = 0;
  double warmup = 0.05;  // share of the steps in which the rate rises linearly to its peak
  int64_t steps = 1;

  double at(int64_t step) const;
};

}  // namespace hewn::train
