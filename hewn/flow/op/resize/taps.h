#pragma once

#include <array>
#include <vector>

#include "hewn/flow/op/resize/scales.h"

namespace hewn::flow {

/// What one output of one dimension is made of: inputs with weights.
struct Taps {
  std::array<int64_t, 4> index{};
  std::array<float, 4> weight{};
  int number = 0;  // 0: it lies outside of what is resized
};

/// How Resize's attributes mix inputs. Checks them all.
class Mixing {
 public:
  explicit Mixing(const Call& call);

  bool nearest() const { return mode_ == Mode::kNearest; }
  Taps taps(const Scaling& scaling, int64_t output) const;

 private:
  enum class Mode { kNearest, kLinear, kCubic };
  enum class Rounding { kPreferFloor, kPreferCeil, kFloor, kCeil };

  float rounded(float x) const;
  Taps cubic(float x, int64_t size) const;

  Mode mode_;
  Rounding rounding_;
  Coordinates coordinates_;
  float cubic_coefficient_;
  bool exclude_outside_;
};

}  // namespace hewn::flow
