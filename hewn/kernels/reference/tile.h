#pragma once

#include <cstdint>

#include "hewn/kernels/tile.h"

/// What every Machine computes, for any number of columns.
namespace hewn::kernels::reference {

/// The formula of TileArguments, in double precision.
void tile(const TileArguments& arguments);

void pack_eight(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t features);
void unpack_eight(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t features);

}  // namespace hewn::kernels::reference
