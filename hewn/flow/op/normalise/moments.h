#pragma once

#include <cmath>
#include <cstdint>

namespace hewn::flow {

/// Of numbers that lie behind one another.
struct Moments {
  double mean = 0;
  double variance = 0;
};

inline Moments moments_of(const float* values, int64_t length) {
  Moments out;
  for (int64_t i = 0; i < length; ++i) out.mean += values[i];
  out.mean /= static_cast<double>(length);
  for (int64_t i = 0; i < length; ++i) {
    const double off = values[i] - out.mean;
    out.variance += off * off;
  }
  out.variance /= static_cast<double>(length);
  return out;
}

/// x becomes x * factor + offset.
struct Line {
  float factor = 1;
  float offset = 0;
};

/// The line that takes numbers of these moments to `scale` times the standard ones, plus `bias`.
inline Line line_of(const Moments& moments, double epsilon, float scale, float bias) {
  const double factor = scale / std::sqrt(moments.variance + epsilon);
  return {static_cast<float>(factor), static_cast<float>(bias - moments.mean * factor)};
}

inline void apply(const Line& line, const float* from, float* to, int64_t length) {
  for (int64_t i = 0; i < length; ++i) to[i] = from[i] * line.factor + line.offset;
}

}  // namespace hewn::flow
