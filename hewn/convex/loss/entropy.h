#pragma once

#include <cmath>

namespace hewn::convex {

/// x log x, continued to 0 and to the negative numbers that rounding makes of it.
inline double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }

}  // namespace hewn::convex
