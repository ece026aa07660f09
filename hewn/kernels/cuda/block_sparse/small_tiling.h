#pragma once

#include "hewn/kernels/cuda/block_sparse/tiling.h"

namespace hewn::kernels::cuda::block_sparse {

// Blocks that tiles of 32 do not fill are covered with tiles of 16 outputs that are summed by a warp each, so
// that nobody has to look for them: a warp walks along its own list, which names the slices in which the tile
// keeps anything. What a piece (tile's outputs x one slice) holds lies, in the order of the list, from the
// place that the tile has in the packed values: what the lanes of a warp want, 16 bytes a lane. Places do not
// depend on the support.
constexpr int kSmallTile = 16;
constexpr int kSmallPieceBytes = kSmallTile * kSliceBytes;
constexpr int kSmallWide = 256;  // outputs of a thread block
constexpr int kMostAcross = 2;   // thread blocks side by side that load samples together

struct SmallTiling {
  unsigned outputs, inputs;
  unsigned operand;  // bytes
  unsigned tiles;    // whole thread blocks, as many as load together at most
  unsigned slices;

  explicit SmallTiling(const Product& product)
      : outputs(static_cast<unsigned>(product.outputs())),
        inputs(static_cast<unsigned>(product.inputs())),
        operand(static_cast<unsigned>(bytes_of(product.type))),
        tiles((outputs + kMostAcross * kSmallWide - 1) / (kMostAcross * kSmallWide) *
              (kMostAcross * kSmallWide / kSmallTile)),
        slices((inputs * operand + kSliceBytes - 1) / kSliceBytes) {}

  HEWN_BOTH_SIDES unsigned slice_inputs() const { return kSliceBytes / operand; }
  /// Bytes from the pieces of one tile to those of the next.
  HEWN_BOTH_SIDES size_t place_bytes() const { return size_t{kSmallPieceBytes} * slices; }
};

/// Where find_tiles leaves things.
struct SmallLists {
  int* counts;       // [tile]: slices listed
  unsigned* listed;  // [tile][slice]

  SmallLists(void* memory, const SmallTiling& tiling)
      : counts(static_cast<int*>(memory)), listed(reinterpret_cast<unsigned*>(counts + tiling.tiles)) {}

  static int64_t bytes(const SmallTiling& tiling) {
    return int64_t{4} * tiling.tiles * (1 + int64_t{tiling.slices});
  }
};

}  // namespace hewn::kernels::cuda::block_sparse
