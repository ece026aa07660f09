#pragma once

#include <ATen/core/Tensor.h>

#include "hewn/core/grid.h"

namespace hewn::prune {

/// The support of a weight on a GPU, for running its layer without the other blocks. The tensor keeps its
/// memory while its values change.
struct KeptBlocks {
  Grid grid;
  at::Tensor support;  // uint8 per block
  double density;      // at least the support's; recorded work may be repeated with any that is no denser
};

}  // namespace hewn::prune
