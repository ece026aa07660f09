#pragma once

#include <algorithm>
#include <cstdint>

#include "hewn/kernels/tile.h"

namespace hewn::kernels {

/// How columns are cut into chunks: these have nearly equal numbers of vectors, since a last one of few
/// columns would wait for its sums. Worked out once, as divisions take long beside a tile of few rows.
class Chunks {
 public:
  explicit Chunks(int64_t columns) : lanes_(std::max(machine().lanes, kColumnStep)) {
    const int64_t vectors = (columns + lanes_ - 1) / lanes_;
    const int64_t most = machine().strip_width / lanes_;
    const int64_t chunks = std::max<int64_t>(1, (vectors + most - 1) / most);
    narrow_ = vectors / chunks * lanes_;
    wide_end_ = vectors % chunks * (narrow_ + lanes_);
  }

  /// Columns of the chunk that begins `done` behind the first one, where so many are left.
  int64_t next(int64_t done, int64_t left) const {
    const int64_t whole = done < wide_end_ ? narrow_ + lanes_ : narrow_;
    return std::min(whole, (left + kColumnStep - 1) / kColumnStep * kColumnStep);
  }

 private:
  int64_t lanes_;
  int64_t narrow_;    // columns of the narrower chunks, which come last
  int64_t wide_end_;  // where they begin
};

}  // namespace hewn::kernels
