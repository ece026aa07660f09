#pragma once

#include <bit>
#include <cstdint>

namespace hewn::kernels {

/// Four bytes of the input times four weights.
inline int32_t dot_of(uint32_t in, uint32_t weight) {
  int32_t sum = 0;
  for (int b = 0; b < 4; ++b) {
    sum += static_cast<int32_t>(in >> (8 * b) & 255U) * static_cast<int8_t>(weight >> (8 * b) & 255U);
  }
  return sum;
}

/// The nearest whole number, ties to even, of a number below 2^22 in size: behind this sum a float has no
/// bits for fractions.
inline int32_t nearest_integer(float value) {
  constexpr float kWhole = 12582912.0F;  // 1.5 * 2^23
  return std::bit_cast<int32_t>(value + kWhole) - std::bit_cast<int32_t>(kWhole);
}

/// A number of whole steps within the bytes from `least` to 255; NaN becomes the lower end.
inline int32_t byte_within(float steps, int32_t least, int32_t zero) {
  const auto low = static_cast<float>(least - zero);
  const auto high = static_cast<float>(255 - zero);
  const float above = steps > low ? steps : low;
  return nearest_integer(above < high ? above : high) + zero;
}

/// The byte of a float: `inverse` is 1 / scale.
inline int32_t nearest_byte(float value, float inverse, int32_t zero) {
  return byte_within(value * inverse, 0, zero);
}

}  // namespace hewn::kernels
