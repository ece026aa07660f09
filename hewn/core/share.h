#pragma once

#include <cstdint>

namespace hewn {

struct Range {
  int64_t begin;
  int64_t end;
};

/// The `part`-th of `parts` nearly equal shares of [0, total).
inline Range share(int64_t total, int64_t part, int64_t parts) {
  return {total * part / parts, total * (part + 1) / parts};
}

}  // namespace hewn
