#pragma once

#include <cstdint>
#include <string>

namespace hewn::sweep {

/// Where something stands, for errors: a sweep may be put together from several files.
struct Line {
  std::string file;
  int64_t number = 0;
};

/// Throws FormatError with file and line.
[[noreturn]] void reject_line(const Line& line, const std::string& what);

}  // namespace hewn::sweep
