#pragma once

#include <cstdint>

#include "hewn/core/random.h"

namespace hewn::data {

/// Where a row or an image stands in [0, 1): shares of that line are held out. Its own key, so that the parts
/// stay the same whatever seed a training has.
inline double split_position(uint64_t number) { return unit(draw(0, Stream::kSplit, 0, number)[0]); }

}  // namespace hewn::data
