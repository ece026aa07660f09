#pragma once

#include <cstdint>
#include <string>

namespace hewn::data {

/// How a long preparation gets on: building the cache of a click log, or packing images.
struct Preparation {
  std::string what;  // "reading rows", "counting values", "writing the cache"
  int64_t bytes = 0;
  int64_t bytes_total = 0;  // 0 where it is not known
  int64_t rows = 0;
  double seconds = 0;
};

}  // namespace hewn::data
