#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace hewn::flow {

/// Integers that wrap around instead of being undefined where they are too large; floats as they are.
template <class T>
using Wrapping = std::conditional_t<std::is_same_v<T, int64_t>, uint64_t, T>;

template <class T>
constexpr T plus(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}

template <class T>
constexpr T minus(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}

template <class T>
constexpr T times(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

/// Integers by 0 are 0.
template <class T>
constexpr T divided(T a, T b) {
  if constexpr (std::is_same_v<T, int64_t>) {
    if (b == 0) return 0;
    if (b == -1) return minus<T>(0, a);
  }
  return a / b;
}

/// The nearest integer towards 0; the largest there is beyond it, 0 for what is not a number.
inline int64_t to_integer(double x) {
  if (std::isnan(x)) return 0;
  if (x >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (x < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

/// What is not a number wins.
template <class T>
constexpr T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

template <class T>
constexpr T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}

}  // namespace hewn::flow
