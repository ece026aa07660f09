#pragma once

#include "hewn/flow/op/operator.h"

namespace hewn::flow {

/// A tensor seen as lanes along one axis: `length` elements, `step` apart.
struct Lanes {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t step = 1;

  int64_t number() const { return outer * step; }
  /// Where a lane begins.
  int64_t begin(int64_t lane) const { return lane / step * length * step + lane % step; }
};

inline Lanes lanes_of(const Dims& dims, int64_t axis) {
  const auto rank = static_cast<int64_t>(dims.size());
  return {count(dims, 0, axis), dims[static_cast<size_t>(axis)], count(dims, axis + 1, rank)};
}

}  // namespace hewn::flow
