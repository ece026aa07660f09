#pragma once

#include <ATen/core/Tensor.h>

#include "hewn/core/blocks.h"

namespace hewn::prune {

/// A support (uint8 per block, on any device; undefined: all are kept) as kept blocks, and back.
LayerBlocks blocks_of(const Grid& grid, const at::Tensor& support);
at::Tensor support_of(const LayerBlocks& blocks);

}  // namespace hewn::prune
